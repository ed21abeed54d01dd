// The TypeScript SDK 1.x, which knows only the handshake.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { converse } from "./conversation.mjs";

const [address] = process.argv.slice(2);
const client = new Client({ name: "live-test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(address)));
assert.equal(client.getServerVersion().name, "task-tracker");
await converse(client);
console.log("legacy SDK: ok");
