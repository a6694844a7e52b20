/** The real server, as a process in a folder of its own at a port that the system chose. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, type ClientOptions } from "../src/index.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BINARY = process.env["EDGEWISE_BIN"] ?? join(ROOT, "../../target/debug/edgewise");

/** A server that can be killed and started again at the same place. */
export class Server {
  readonly folder = mkdtempSync(join(tmpdir(), "edgewise-sdk-"));
  #address = "127.0.0.1:0";
  #process!: ChildProcess;

  private constructor(readonly words: readonly string[]) {}

  static async start(...words: string[]): Promise<Server> {
    const server = new Server(words);
    await server.restart();
    return server;
  }

  get url(): string {
    return `http://${this.#address}`;
  }

  client(options: ClientOptions = {}): Client {
    return new Client({ url: this.url, ...options });
  }

  /** Ends it as a loss of power would. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await once(this.#process, "exit");
  }

  /** Starts it again, at the same address with the same data. */
  async restart(): Promise<void> {
    const words = ["serve", "--addr", this.#address, ...this.words];
    const [cwd, env] = [this.folder, this.#environment()];
    this.#process = spawn(BINARY, words, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: this.#process.stdout! })) {
      if (!line.startsWith("listening at http://")) throw new Error(`the server did not start: ${line}`);
      this.#address = line.slice("listening at http://".length).trim();
      break;
    }
  }

  async close(): Promise<void> {
    this.#process.kill("SIGINT");
    await once(this.#process, "exit");
    rmSync(this.folder, { recursive: true });
  }

  /** Another command in the same folder. */
  command(...words: string[]): { status: number | null; text: string } {
    const done = spawnSync(BINARY, words, { cwd: this.folder, env: this.#environment(), encoding: "utf8" });
    return { status: done.status, text: done.stdout + done.stderr };
  }

  #environment(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("EDGEWISE_"));
    return { ...Object.fromEntries(kept), EDGEWISE_DIR: join(this.folder, ".edgewise") };
  }
}
