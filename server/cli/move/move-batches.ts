// Moves the batches that DuckDB does not hold yet, and the marks that say which ones it holds.

import { listBatches, listBatchNodes, toBatchDirectory } from '../../features/hits/batches/batch-file.ts'
import { readHits } from '../../features/hits/batches/batch-reader.ts'
import type { HitEngine } from '../../storage/hits/hit-engine.ts'

export interface BatchMoveNeeds {
  dataDir: string
  engine: HitEngine
  /** The last batch of each node that DuckDB holds. */
  marks: { node: string; batch: number }[]
  /** Hits recorded before this moment are past their retention. */
  since: number
  signal: AbortSignal
}

/** @returns how many hits the batches have that DuckDB did not hold */
export async function moveBatches(needs: BatchMoveNeeds): Promise<number> {
  const { dataDir, engine, marks, since, signal } = needs
  for (const { node, batch } of marks) await engine.skip(node, batch)
  let hits = 0
  for (const node of await listBatchNodes(dataDir)) {
    const held = marks.find((mark) => mark.node === node)?.batch ?? 0
    const batches = await listBatches(toBatchDirectory(dataDir, node), node)
    for (const batch of batches.filter(({ number }) => number > held)) {
      signal.throwIfAborted()
      hits += await countHits(batch.path, since)
      const mark = await engine.mark(node)
      // Batches before this one were lost before the move.
      if (batch.number > mark + 1) await engine.skip(node, batch.number - 1)
      await engine.load(batch)
    }
  }
  return hits
}

/** @throws for a damaged batch: a server that starts sets it aside */
async function countHits(path: string, since: number): Promise<number> {
  let hits = 0
  for await (const hit of readHits(path)) {
    if (!hit)
      throw new Error(
        `The batch ${path} is damaged. Start the server once as before the move: it sets the batch aside. ` +
          'Then stop it, and run the command again.',
      )
    if (hit.at >= since) hits++
  }
  return hits
}
