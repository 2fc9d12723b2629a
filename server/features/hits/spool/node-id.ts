// What a data directory's spool is called, for whoever names its clicks without being its server.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runWhileNoServer } from '../../../storage/lock.ts'
import { openSpool } from './spool.ts'

const STARTS_WITHIN_MS = 10_000
const RETRY_MS = 50

/** Makes the spool where no server has made it yet. */
export async function ensureNodeId(dataDir: string): Promise<string> {
  const dir = join(dataDir, 'spool')
  const deadline = performance.now() + STARTS_WITHIN_MS
  for (;;) {
    const known = await readNodeId(join(dir, 'node'))
    if (known !== undefined) return known
    const made = await runWhileNoServer(dataDir, async () => {
      const spool = await openSpool({ dir })
      await spool.close()
      return spool.node
    })
    if (made !== undefined) return made
    if (performance.now() > deadline) throw new Error(`The server on ${dataDir} has not made its spool.`)
    await Bun.sleep(RETRY_MS)
  }
}

async function readNodeId(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}
