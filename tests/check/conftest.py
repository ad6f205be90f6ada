"""Results folders as the tests of tables write them."""

from tests.show.conftest import cxe, small, ten_columns  # noqa: F401
