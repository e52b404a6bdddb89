"""The Direct3D 10 and 11 runtime: the application's interface over a driver's functions.

``DriverDevice`` creates objects, calls the functions and reads back; ``Query`` is a query object
of an application.
"""

from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.driver_device import DriverDevice, Handle, Resource, Shader
from dp2emu.runtime10.features import DoublesData, Feature, Options3Data, OptionsData
from dp2emu.runtime10.query import Data, Query
from dp2emu.runtime10.signatures import Code, VertexElement
from dp2emu.runtime10.streamout import StreamDeclaration
from dp2emu.runtime10.textures import TextureDesc
from dp2emu.runtime10.views import Span, ViewDesc, ViewDimension

__all__ = [
    "Api",
    "Code",
    "Data",
    "DoublesData",
    "DriverDevice",
    "Feature",
    "Handle",
    "Options3Data",
    "OptionsData",
    "Query",
    "Refused",
    "Resource",
    "Result",
    "Shader",
    "Span",
    "StreamDeclaration",
    "TextureDesc",
    "VertexElement",
    "ViewDesc",
    "ViewDimension",
]
