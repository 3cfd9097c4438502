"""Problems of a local KernelBench checkout, by level and number or name."""

import os
import re

from .fault import Fault

FETCH = "clone https://github.com/ScalingIntelligence/KernelBench and name its folder (--kernelbench DIR)"


def folder_of(place, level):
    """level1 may be in the checkout's KernelBench folder, in the folder that was named, or be that
    folder."""
    if not place or not os.path.isdir(place):
        raise Fault("task", f"no KernelBench checkout at '{place or ''}': {FETCH}")
    if not re.fullmatch(r"[0-9]+", str(level)):
        raise Fault("task", f"no level '{level}' in KernelBench: 1, 2 or 3")
    name = f"level{level}"
    for folder in (os.path.join(place, "KernelBench", name), os.path.join(place, name), place):
        if os.path.basename(os.path.abspath(folder)) == name and os.path.isdir(folder):
            return folder
    there = sorted(one for one in os.listdir(place) if re.fullmatch(r"level[0-9]+", one))
    there += (
        sorted(
            one for one in os.listdir(os.path.join(place, "KernelBench")) if
            re.fullmatch(r"level[0-9]+", one)
        )
        if os.path.isdir(os.path.join(place, "KernelBench"))
        else []
    )
    if there:
        raise Fault("task", f"no {name} in '{place}', which has {', '.join(there)}")
    raise Fault(
        "task", f"'{place}' is no KernelBench checkout (no KernelBench/{name} and no {name} in it): {FETCH}"
    )


def problems_of(place, level):
    folder = folder_of(place, level)
    found = []
    for file in os.listdir(folder):
        match = re.fullmatch(r"([0-9]+)_(.+)\.py", file)
        if match:
            found.append(
                {"id": int(match[1]), "name": match[2].rstrip("_"), "path": os.path.join(folder, file)}
            )
    if not found:
        raise Fault("task", f"'{folder}' holds no problem (files like 23_Softmax.py): {FETCH}")
    return sorted(found, key=lambda one: (one["id"], one["name"]))


def list_problems(request):
    return {"problems": problems_of(request.get("dir"), request.get("level"))}


def find(request):
    """By number, by file name, by name; by the one name that contains it where none is it."""
    problems = problems_of(request.get("dir"), request.get("level"))
    wanted = str(request.get("problem", "")).strip()
    plain = re.sub(r"\.py$", "", os.path.basename(wanted)).rstrip("_").lower()
    numbered = [one for one in problems if wanted.isdigit() and one["id"] == int(wanted)]
    named = [one for one in problems if plain in (one["name"].lower(),
    f"{one['id']}_{one['name']}".lower())]
    alike = [one for one in problems if plain and plain in one["name"].lower()]
    for found in (numbered, named, alike):
        if len(found) == 1:
            return {"path": found[0]["path"], "name": f"{found[0]['id']}_{found[0]['name']}"}
        if found:
            several = ", ".join(f"{one['id']}_{one['name']}" for one in found[:8])
            raise Fault(
                "task",
                f"'{wanted}' is not one problem of level {request['level']}: {several}"
                f"{' and more' if len(found) > 8 else ''}; give the number",
            )
    if wanted.isdigit():
        raise Fault(
            "task",
            f"level {request['level']} has no problem {wanted}: its numbers are {problems[0]['id']} to "
            f"{problems[-1]['id']}",
        )
    raise Fault("task", f"level {request['level']} has no problem named '{wanted}': 'list' shows all")
