"""Class linkage: instances of classes that implement the interfaces of shaders.

Source: the Direct3D 11 documentation of ID3D11ClassLinkage and ID3D11ClassInstance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dp2emu.argument_check import checked
from dp2emu.ddi10.shaders.stages import PointerData
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.objects import DeviceChild, Owner, Shader
from dp2emu.shader.sm4.interfaces import ClassInstance as NamedInstance
from dp2emu.shader.sm4.interfaces import Interfaces

_UNUSED = 0xFFFFFFFF
"""Number of a function table that no interface has."""


class ClassInstanceDesc(NamedTuple):
    """D3D11_CLASS_INSTANCE_DESC: where the data of an instance are; BaseConstantBufferOffset
    counts vectors of 16 bytes.
    """

    InstanceId: int = 0
    InstanceIndex: int = 0
    TypeId: int = 0
    ConstantBuffer: int = 0
    BaseConstantBufferOffset: int = 0
    BaseTexture: int = 0
    BaseSampler: int = 0
    Created: int = 0


@checked
class ClassInstance(DeviceChild):
    """ID3D11ClassInstance of the class ``type_name``; ``instance_name`` is empty for an instance
    that CreateClassInstance made.
    """

    def __init__(
        self, linkage: ClassLinkage, type_name: str, instance_name: str, desc: ClassInstanceDesc
    ) -> None:
        super().__init__(linkage.owner, bytearray(), linkage)
        self.linkage = linkage
        self.type_name = type_name
        self.instance_name = instance_name
        self.desc = desc

    def get_class_linkage(self) -> ClassLinkage:
        """GetClassLinkage: the linkage, with a reference more."""
        self.linkage.add_ref()
        return self.linkage


@checked
class ClassLinkage(DeviceChild):
    """ID3D11ClassLinkage.  Mutable: shaders that are created with it add their classes.

    ``name`` names an instance, ``type_name`` a class; ``constant_buffer``, ``texture`` and
    ``sampler`` are the slots where an instance's data begin.
    """

    def __init__(self, owner: Owner) -> None:
        super().__init__(owner, bytearray())
        self._types: dict[str, int] = {}
        self._instances: dict[str, tuple[str, NamedInstance]] = {}

    def add(self, interfaces: Interfaces) -> None:
        """Add the classes and instances that a shader names."""
        names = {each.number: each.name for each in interfaces.types}
        for name in names.values():
            self._types.setdefault(name, len(self._types))
        for each in interfaces.instances:
            if each.type in names:
                self._instances.setdefault(each.name, (names[each.type], each))

    def get_class_instance(self, name: str, index: int = 0) -> ClassInstance:
        """GetClassInstance: the instance that a shader names, or element ``index`` of an array of
        instances.

        Raises Refused (E_INVALIDARG) if no shader of the linkage has it.
        """
        found = self._instances.get(f"{name}[{index}]")
        if found is None and not index:
            found = self._instances.get(name)
        if found is None:
            raise Refused(Result.E_INVALIDARG, f"no class instance {name!r:.60}, {index}")
        type_name, each = found
        places = each.constant_buffer, each.offset, each.texture, each.sampler
        numbers = [*self._instances].index(each.name), index, self._types[type_name]
        desc = ClassInstanceDesc(*numbers, *(place or 0 for place in places))
        return self._kept(ClassInstance(self, type_name, name, desc))

    def create_class_instance(
        self,
        type_name: str,
        constant_buffer: int = 0,
        constant_vector: int = 0,
        texture: int = 0,
        sampler: int = 0,
    ) -> ClassInstance:
        """CreateClassInstance with data from vector ``constant_vector`` of a constant buffer on.

        Raises Refused (E_INVALIDARG) if no shader of the linkage has the class.
        """
        if type_name not in self._types:
            raise Refused(Result.E_INVALIDARG, f"no class {type_name!r:.60}")
        places = constant_buffer, constant_vector, texture, sampler
        desc = ClassInstanceDesc(0, 0, self._types[type_name], *places, Created=1)
        return self._kept(ClassInstance(self, type_name, "", desc))

    def _kept(self, made: ClassInstance) -> ClassInstance:
        self.owner.keep(made)
        return made


def pointers(
    shader: Shader | None, instances: Sequence[ClassInstance | None]
) -> tuple[tuple[int, ...], tuple[PointerData, ...]]:
    """The function table and the data of each class instance, for the interfaces of a shader.

    Raises Refused (E_INVALIDARG) for a shader without interfaces, and for an instance whose class
    does not implement its interface.
    """
    if shader is None or shader.interfaces is None:
        raise Refused(Result.E_INVALIDARG, "class instances without a shader of interfaces")
    interfaces = shader.interfaces
    found = [_pointer(interfaces, number, each) for number, each in enumerate(instances)]
    return tuple(table for table, _ in found), tuple(data for _, data in found)


def _pointer(
    interfaces: Interfaces, number: int, instance: ClassInstance | None
) -> tuple[int, PointerData]:
    """The function table of an instance for an interface pointer, and its data."""
    if instance is None:
        return _UNUSED, PointerData()
    types = [each.number for each in interfaces.types if each.name == instance.type_name]
    slots = (each for each in interfaces.slots if 0 <= number - each.first < each.length)
    accepted = (each.tables for each in slots)
    found = (tables[type] for tables in accepted for type in types if type in tables)
    table = next(found, None)
    if table is None:
        what = f"class {instance.type_name!r:.60} for interface {number}"
        raise Refused(Result.E_INVALIDARG, what)
    desc = instance.desc
    data = desc.BaseConstantBufferOffset, desc.ConstantBuffer, desc.BaseSampler, desc.BaseTexture
    return table, PointerData(*data)
