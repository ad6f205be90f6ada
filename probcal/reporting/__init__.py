"""What a results folder holds, shown: tables."""
