// Runs `towpath move` as an operator does, on a data directory of a test, and kills it if the test wants.

import { join } from 'node:path'
import { createHitImport } from '../../server/features/hits/batches/hit-import.ts'
import { DAY_MS } from '../../server/lib/utc-day.ts'

const ROOT = join(import.meta.dir, '../..')

export interface MoveProcess {
  /** Its output so far, errors and progress too. */
  output(): string
  kill(): Promise<void>
  /** Resolves when it ends. @returns its exit code */
  exited: Promise<number>
}

export function startCommand(
  dataDir: string,
  words: string[],
  environment: Record<string, string> = {},
): MoveProcess {
  const child = Bun.spawn([process.execPath, join(ROOT, 'server/cli/main.ts'), ...words], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output: string[] = []
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) output.push(decoder.decode(chunk, { stream: true }))
  }
  const ended = Promise.all([read(child.stdout), read(child.stderr), child.exited])
  return {
    output: () => output.join(''),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    exited: ended.then(() => child.exitCode ?? -1),
  }
}

/** Runs a command to its end. */
export async function runCommand(dataDir: string, words: string[], environment?: Record<string, string>) {
  const command = startCommand(dataDir, words, environment)
  const code = await command.exited
  return { code, output: command.output() }
}

export interface PastHits {
  workspaceId: number
  linkId: number
  hits: number
  /** They lie on this many days before today. */
  days: number
}

/** Hands clicks of past days over to the server. Some visitors click several times, and some hits are no clicks. */
export async function importPastHits(dataDir: string, { workspaceId, linkId, hits, days }: PastHits) {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const handOver = await createHitImport(dataDir, `past-${workspaceId}-${linkId}`)
  const lines: string[] = []
  for (let i = 0; i < hits; i++) {
    const at = today - days * DAY_MS + Math.floor((i * days * DAY_MS) / hits)
    const hit = {
      id: workspaceId * 1_000_000 + i + 1,
      at,
      workspaceId,
      linkId,
      outcome: i % 17 === 0 ? 'expired' : 'redirect',
      class: i % 11 === 0 ? 'bot' : 'human',
      trigger: i % 5 === 0 ? 'qr' : 'link',
      // Above 2^63 too.
      visitor: String((BigInt(i % 97) * 0x9e37_79b9_7f4a_7c15n) % 2n ** 64n),
      ...(i % 2 && { country: 'DE', city: "L'Aquila \t\\ 😀", referrer: 'google.com' }),
      ...(i % 4 === 1 && { referrerUrl: 'https://google.com/' }),
      ...(i % 3 === 0 && { utmSource: 'news', utmCampaign: `c${i % 7}` }),
    }
    lines.push(JSON.stringify(hit))
  }
  await handOver.add(`${lines.join('\n')}\n`)
  await handOver.finish()
}
