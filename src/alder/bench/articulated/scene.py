"""The scenes: robosuite's Panda before a drawer or a door of our own."""

import hashlib
import logging
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

from alder.bench.articulated.packages import load_robots

Kind: TypeAlias = Literal["drawer", "door"]
KINDS: tuple[Kind, ...] = ("drawer", "door")

_BASE_AT = (-0.56, 0.0, 0.0)
_OBJECT_AT = "-0.08 -0.06 0.86"

# The handle is a bar the fingers close on; its contact is stiff, with friction to twist and slide.
_HANDLE = 'mass="0.1" friction="2 0.05 0.001" solref="0.004 1" condim="4" group="0"'
_SHOWN = 'contype="0" conaffinity="0" group="1"'
_DRAWER = f"""
<geom name="base" type="box" size="0.12 0.15 0.02" pos="0 0 -0.08" mass="1" {_SHOWN}/>
<body name="moving">
  <joint name="joint" type="slide" axis="0 1 0" limited="true" range="0 0.20"/>
  <geom name="tray" type="box" size="0.10 0.13 0.03" pos="0 -0.16 -0.03" mass="1" {_SHOWN}/>
  <geom name="handle" type="box" size="0.05 0.008 0.02" pos="0 0 0.04" {_HANDLE}/>
</body>"""
_DOOR = f"""
<geom name="base" type="box" size="0.02 0.02 0.02" pos="-0.30 0 -0.15" mass="1" {_SHOWN}/>
<body name="moving" pos="-0.30 0 0">
  <joint name="joint" type="hinge" axis="0 0 1" limited="true" range="0 0.7"/>
  <geom name="panel" type="box" size="0.15 0.01 0.05" pos="0.15 0 -0.05" mass="1" {_SHOWN}/>
  <geom name="handle" type="box" size="0.04 0.008 0.02" pos="0.30 0 0.04" {_HANDLE}/>
</body>"""
_PARTS: Mapping[Kind, str] = {"drawer": _DRAWER, "door": _DOOR}

# robosuite asks an object for these three sites.
_SITES = "".join(
    f'<site name="{name}" pos="{at}" size="0.001"/>'
    for name, at in (
        ("bottom_site", "0 0 -0.1"),
        ("top_site", "0 0 0.1"),
        ("horizontal_radius_site", "0.1 0.1 0"),
    )
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A composed scene: its XML, MuJoCo's model of it, and where the arm begins."""

    kind: Kind
    xml: str
    model: Any
    rest: tuple[float, ...]
    fingers: tuple[float, ...]

    @property
    def digest(self) -> str:
        """A digest of the model: its XML, wherever its files lie, and MuJoCo's version."""
        placeless = re.sub(r'(file|meshdir|texturedir)="[^"]*/', r'\1="', self.xml)
        version: str = load_robots("mujoco").__version__
        return hashlib.sha256(f"{version}\n{placeless}".encode()).hexdigest()


@cache
def compose(kind: Kind) -> Scene:
    """Let robosuite compose a scene; this takes some seconds, once a process."""
    logging.getLogger("robosuite_logs").setLevel(logging.ERROR)
    models = load_robots("robosuite.models")
    load_robots("robosuite")
    robot = load_robots("robosuite.models.robots").create_robot("Panda", idn=0)
    bases, grippers = (load_robots(f"robosuite.models.{part}") for part in ("bases", "grippers"))
    robot.add_base(bases.robot_base_factory(robot.default_base, idn=0))
    gripper = grippers.gripper_factory("PandaGripper", idn="0_right")
    robot.add_gripper(gripper, robot.eef_name["right"])
    robot.set_base_xpos(list(_BASE_AT))
    arena = models.arenas.EmptyArena()
    arena.set_origin([0, 0, 0])
    task = load_robots("robosuite.models.tasks").ManipulationTask(
        mujoco_arena=arena, mujoco_robots=[robot], mujoco_objects=[_object(kind)]
    )
    rest = tuple(float(angle) for angle in robot.init_qpos)
    fingers = tuple(float(at) for at in gripper.init_qpos)
    return Scene(kind, task.get_xml(), task.get_model(mode="mujoco"), rest, fingers)


def _object(kind: Kind) -> Any:  # noqa: ANN401 (robosuite says no types)
    """Return the drawer or the door as an object of robosuite, which reads objects from files."""
    text = (
        f'<mujoco model="{kind}"><worldbody><body><body name="object">{_PARTS[kind]}</body>'
        f"{_SITES}</body></worldbody></mujoco>"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "object.xml"
        path.write_text(text, encoding="utf-8")
        made = load_robots("robosuite.models.objects").MujocoXMLObject(
            str(path), name="art", joints=None, obj_type="all", duplicate_collision_geoms=False
        )
    made.get_obj().set("pos", _OBJECT_AT)
    return made
