// What every client has to get through: list, a wrong call, the call its answer suggests.
import assert from "node:assert/strict";

export async function converse(client) {
  const { tools } = await client.listTools();
  const names = ["tasks", "tracker__workload", "help", "task_status", "task_result", "task_cancel"];
  assert.deepEqual(tools.map((tool) => tool.name), names);
  const refused = await client.callTool({ name: "tasks", arguments: { action: "lst" } });
  assert.equal(refused.isError, true);
  const action = JSON.parse(refused.content[0].text).did_you_mean.lst;
  const answer = await client.callTool({ name: "tasks", arguments: { action } });
  assert.equal(answer.isError, false);
  assert.ok(JSON.parse(answer.content[0].text).tasks.length > 0);
  await client.close();
}
