"""The official MCP client against `kernevo mcp`: lists and calls every tool, reads every resource.

    mcp_client_test.py PROGRAM SOURCE-FOLDER
"""

import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SOFTMAX = SOURCE / "examples" / "softmax"
HIDDEN = "[37, 113]"
TOOLS = ["check", "bench", "profile", "compare", "tune", "ask", "tell", "best"]
called = set()


@contextlib.asynccontextmanager
async def session(folder, *arguments):
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "OPENAI_API_KEY": "secret"}
    environment.update({name: value for name, value in os.environ.items() if name.startswith("KERNEVO_")})
    server = StdioServerParameters(command=PROGRAM, args=["mcp", *arguments], env=environment, cwd=folder)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        answer = await client.initialize()
        assert answer.server_info.name == "kernevo", answer
        assert answer.capabilities.tools and answer.capabilities.resources and not answer.capabilities.prompts
        yield client


async def call(client, tool, error=False, **arguments):
    called.add(tool)
    result = await client.call_tool(tool, arguments)
    assert result.is_error == error, (tool, result.content)
    data = result.structured_content
    assert json.loads(result.content[0].text) == data
    return data


async def refused(client, tool, **arguments):
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as problem:
        return str(problem)
    raise AssertionError(f"{tool} took {arguments}: {result}")


async def resources(client, folder):
    listed = {str(resource.uri) for resource in (await client.list_resources()).resources}
    assert listed == {"kernevo://guide", "kernevo://kernel-format", "kernevo://task"}, listed
    texts = {uri: (await client.read_resource(uri)).contents[0].text for uri in listed}
    assert "kernevo tell" in texts["kernevo://guide"]
    assert "@launch" in texts["kernevo://kernel-format"]
    templates = (await client.list_resource_templates()).resource_templates
    assert len(templates) == 1 and templates[0].uri_template.startswith("kernevo://task/")
    by_path = (await client.read_resource(f"kernevo://task/{folder}/task.yaml")).contents[0].text
    for text in (texts["kernevo://task"], by_path):
        assert "softmax" in text and HIDDEN not in text and "check_shapes" not in text, text


def tunable(naive):
    return "// @tune BLOCK 32..1024\n" + naive.replace("ceil_div(M, 64), 64", "ceil_div(M, BLOCK), BLOCK")


async def one_kernel(client):
    naive = (SOFTMAX / "naive.cu").read_text()
    online = (SOFTMAX / "online.cu").read_text()
    right = await call(client, "check", source=online)
    assert right["correct"] and right["exit_code"] == 0 and right["hidden_cases"] > 0, right
    assert "seed" not in right and not any(case["hidden"] for case in right["cases"]), right
    # Right on sizes that are a multiple of 32, which the hidden one is not.
    wrong = await call(client, "check", source=naive.replace("(row >= M)", "(row >= M || N % 32 != 0)"))
    assert not wrong["correct"] and wrong["exit_code"] == 1, wrong
    assert wrong["diagnosis"]["hidden"] and not wrong["failing_case"], wrong
    assert "37x113" not in json.dumps(wrong) and "113" not in json.dumps(wrong["diagnosis"]), wrong
    broken = await call(client, "check", source=naive.replace(";", "", 1))
    assert not broken["correct"] and broken["diagnosis"]["rung"] == "compile", broken
    assert broken["kernel"] == "kernel.cu", broken

    slow = await call(client, "bench", source=naive)
    fast = await call(client, "bench", kernel=str(SOFTMAX / "online.cu"), task="task.yaml", gpu="A100")
    assert slow["objective_ns"] > fast["objective_ns"] > 0
    why = await call(client, "profile", source=naive)
    assert why["cases"], why
    verdict = await call(client, "compare", a_source=naive, b=str(SOFTMAX / "online.cu"))
    assert verdict["overall"]["standing"] == "faster" and verdict["exit_code"] == 0, verdict
    verdict = await call(client, "compare", a_source=online, b_source=naive)
    assert verdict["exit_code"] == 1, verdict
    tuned = await call(client, "tune", source=tunable(naive), evaluations=2, seconds=60)
    assert tuned["best"]["time_ns"] > 0, tuned


async def mistakes(client):
    trouble = await call(client, "bench", error=True, source="x", task="/no/such/task.yaml")
    assert trouble["exit_code"] == 2 and "error" in trouble, trouble
    trouble = await call(client, "bench", error=True, source="__global__ void k() {}", gpu="--help")
    assert trouble["exit_code"] == 2, trouble
    assert "did you mean" in await refused(client, "check", kernle="x")
    assert "not both" in await refused(client, "check", kernel="x", source="y")
    assert "no tool" in await refused(client, "destroy")
    trouble = await call(client, "best", error=True, run="no-such-run")
    assert trouble["exit_code"] == 2, trouble


async def whole_run(client):
    asked = await call(client, "ask", task="task.yaml", name="mine", rounds=2, guide=True)
    assert not asked["over"] and "@launch" in asked["guide"], asked
    assert HIDDEN not in json.dumps(asked)
    step = asked["step"]
    wrong = asked["parent"]["source"].replace("expf(", "cosf(")
    told = await call(client, "tell", run="mine", source=wrong, step=step, title="wrong")
    assert told["open"] and told["diagnosis"] and told["exit_code"] == 1, told
    told = await call(client, "tell", run="mine", kernel=str(SOFTMAX / "online.cu"), step=step)
    assert told["new_best"] and told["exit_code"] == 0, told
    asked = await call(client, "ask", run="mine")
    told = await call(client, "tell", run="mine", source=(SOFTMAX / "naive.cu").read_text(), step=asked["step"])
    assert not told["new_best"], told
    asked = await call(client, "ask", run="mine")
    assert asked["over"] and asked["exit_code"] == 1, asked
    best = await call(client, "best", run="mine")
    assert "online" in json.dumps(best), best
    kernel = await call(client, "best", run="mine", **{"as": "kernel"})
    assert "__global__" in kernel["text"], kernel


async def together(client):
    """Calls run side by side, and one that its caller gives up does not hold the others."""
    online = (SOFTMAX / "online.cu").read_text()
    long = {"source": tunable((SOFTMAX / "naive.cu").read_text()), "seconds": 500, "evaluations": 900}
    lost = asyncio.create_task(client.call_tool("tune", long))
    await asyncio.sleep(1)
    lost.cancel()
    both = await asyncio.gather(*(call(client, "bench", source=online + f"// {i}\n") for i in range(2)))
    assert both[0]["objective_ns"] == both[1]["objective_ns"]
    await client.send_ping()


async def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        task = (SOFTMAX / "task_large.yaml").read_text()
        (folder / "task.yaml").write_text(task + f"check_shapes:\n  - {HIDDEN}\n  - [64, 256]\n")
        shutil.copy(SOFTMAX / "naive.cu", folder)
        async with session(folder, "--task", "task.yaml") as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == TOOLS, listed
            assert all(tool.input_schema["additionalProperties"] is False for tool in listed)
            for part in (resources(client, folder), one_kernel(client), mistakes(client), together(client), whole_run(client)):
                print("mcp_client_test:", part.__name__, flush=True)
                await part
        assert called == set(TOOLS), called
    print("mcp_client_test: passed")


asyncio.run(asyncio.wait_for(main(), 500))
