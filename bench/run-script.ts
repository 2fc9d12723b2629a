// Runs a script of this directory in a process of its own, so that its memory and its processor time are its own.

import { join } from 'node:path'

/** @returns what the script prints, which is JSON */
export async function runScript<T>(script: string, ...args: (string | number)[]): Promise<T> {
  const command = [process.execPath, join(import.meta.dir, script), ...args.map(String)]
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${script} failed`)
  return JSON.parse(output) as T
}
