"""What is told when a result is of another Weka than the one here."""

from probcal.runner.fingerprint import _changed_versions


def test_a_result_of_a_named_jar_tells_both_wekas():
    before = {"weka.jar": "3.4.1, sha256 60ce66906803", "numpy": "2.0"}
    now = {"python-weka-wrapper3": "0.3.3", "numpy": "2.0"}
    assert _changed_versions(now, before) == (
        "Weka 3.4.1, sha256 60ce66906803 -> that of python-weka-wrapper3 0.3.3 (PROBCAL_WEKA_JAR names a jar file)"
    )
