"""Fixtures of this folder."""

from tests.process.servers import modules as modules
from tests.process.servers import private as private
from tests.process.servers import server as server
from tests.process.servers import shared as shared
