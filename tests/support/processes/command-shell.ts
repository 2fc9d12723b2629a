// Runs the operator's commands as processes of their own.

import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../../..')
const BUN = join(ROOT, 'node_modules/.bin/bun')

/** Runs one command in a process of its own. */
export async function towpath(
  env: Record<string, string | undefined>,
  words: string[],
  program = [BUN, 'server/cli/main.ts'],
  cwd = ROOT,
): Promise<CommandResult> {
  const child = Bun.spawn([...program, ...words], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

export interface CommandResult {
  code: number
  out: string
  err: string
}

/** Runs the program's own file anew for each line of words, and answers with what it wrote. */
const SHELL = `
  const say = process.stdout.write.bind(process.stdout)
  let ran = {}
  for (const [name, stream] of [['out', process.stdout], ['err', process.stderr]])
    stream.write = (text) => ((ran[name] += text), true)
  let number = 0
  for await (const line of console) {
    if (line === '') break
    ran = { out: '', err: '' }
    process.exitCode = 0
    process.argv.splice(0, Infinity, 'bun', 'main.ts', ...JSON.parse(line))
    await import('./server/cli/main.ts?' + number++)
    say(JSON.stringify({ code: process.exitCode, ...ran }) + '\\n')
  }`

/** Many commands, one after the other, in one process: reading the program in takes longer than what it does. */
export function openShell(env: Record<string, string | undefined>) {
  const child = Bun.spawn([BUN, '-e', SHELL], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const answers = linesOf(child.stdout)
  return {
    async run(...words: string[]): Promise<CommandResult> {
      child.stdin.write(`${JSON.stringify(words)}\n`)
      child.stdin.flush()
      const { value, done } = await answers.next()
      if (done) throw new Error('the shell ended')
      return JSON.parse(value)
    },
    async end() {
      child.stdin.end()
      return child.exited
    },
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
}
