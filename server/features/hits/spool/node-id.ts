// The node id of a data directory, for a command that signs click ids.

import { join } from 'node:path'
import { runWhileNoServer } from '../../../storage/lock.ts'
import { readNodeId } from './claim-directory.ts'
import { openSpool } from './spool.ts'

/** The time that a starting server (it holds the directory's lock) has to create its spool. */
const STARTS_WITHIN_MS = 10_000
const RETRY_MS = 50

/** Reads the node id. Creates the spool if no server has created it yet. */
export async function ensureNodeId(dataDir: string): Promise<string> {
  const dir = join(dataDir, 'spool')
  const deadline = performance.now() + STARTS_WITHIN_MS
  for (;;) {
    const known = await readNodeId(dir)
    if (known !== undefined) return known
    const created = await runWhileNoServer(dataDir, async () => {
      const spool = await openSpool({ dir })
      await spool.close()
      return spool.node
    })
    if (created !== undefined) return created
    if (performance.now() > deadline) throw new Error(`The server on ${dataDir} has not made its spool.`)
    await Bun.sleep(RETRY_MS)
  }
}
