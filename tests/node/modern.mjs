// The TypeScript client 2.x against a running server: discover, list, a wrong call, the corrected one.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [address, mode, revision] = process.argv.slice(2);
const client = new Client(
  { name: "live-test", version: "1" },
  { versionNegotiation: mode === "pin" ? { mode: { pin: revision } } : { mode } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(address)));
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["tasks", "help"]);
const refused = await client.callTool({ name: "tasks", arguments: { action: "lst" } });
assert.equal(refused.isError, true);
const action = JSON.parse(refused.content[0].text).did_you_mean.lst;
const answer = await client.callTool({ name: "tasks", arguments: { action } });
assert.equal(answer.isError, false);
assert.ok(JSON.parse(answer.content[0].text).tasks.length > 0);
await client.close();
console.log(`${mode}: ok`);
