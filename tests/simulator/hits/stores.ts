// The simulated stores at the end of the pipeline: a hit engine that is a list, and the rows that count clicks. Both are
// transactional, and lose nothing that they have answered.

import { readZstdFrames } from '../../../server/lib/formats/zstd-frames.ts'
import type { Hit } from '../../../server/storage/hits/hit.ts'
import type { Batch } from '../../../server/storage/hits/hit-engine.ts'
import type { Disk } from '../machine/disk.ts'
import type { SimulatedProcess } from '../machine/process.ts'

/** The content of the engine's disk. */
export interface EngineFile {
  marks: Map<string, number>
  hits: Hit[]
}

export interface HitStores {
  engine: EngineFile
  backup: EngineFile
  marks: Map<string, number>
  /** By link. */
  clicks: Map<number, number>
  /** Calls fail until this moment. */
  engineAwayUntil: number
  rowsAwayUntil: number
  /** Adds a batch each time that it comes: a fault that the simulator must find. */
  forgetsMarks: boolean
  /** The engine's file was damaged once. */
  isDamaged: boolean
}

const copyFile = ({ marks, hits }: EngineFile): EngineFile => ({ marks: new Map(marks), hits: [...hits] })

export const createStores = (): HitStores => ({
  engine: { marks: new Map(), hits: [] },
  backup: { marks: new Map(), hits: [] },
  marks: new Map(),
  clicks: new Map(),
  engineAwayUntil: 0,
  rowsAwayUntil: 0,
  forgetsMarks: false,
  isDamaged: false,
})

/** The engine's file is damaged: what opens it next finds the backup, or nothing where there is none. */
export function damageEngine(stores: HitStores): void {
  stores.engine = copyFile(stores.backup)
  stores.isDamaged = true
}

export async function openSimulatedEngine(stores: HitStores, disk: Disk, process: SimulatedProcess) {
  const { world } = process
  const call = <T>(label: string, work: () => T) =>
    process.call(`engine ${label}`, world.random() * 20, () => {
      if (world.now() < stores.engineAwayUntil) throw new Error('The engine is broken')
      return work()
    })
  let opened = await call('open', () => stores.engine)
  /** A file that was damaged in the meantime is not the one that was opened. */
  const file = () => {
    if (opened !== stores.engine) throw new Error('The engine has lost its file')
    return opened
  }
  return {
    mark: (node: string) => call('mark', () => file().marks.get(node) ?? 0),
    load: (batch: Batch) =>
      call(`load ${batch.number}`, () => {
        const { marks, hits } = file()
        const mark = marks.get(batch.node) ?? 0
        if (batch.number <= mark) return
        if (batch.number !== mark + 1) throw new Error(`Batch ${batch.number} does not follow ${mark}`)
        hits.push(...readBatch(disk, batch.path))
        marks.set(batch.node, batch.number)
        world.note(`engine holds batch ${batch.number}`)
      }),
    skip: (node: string, through: number) =>
      call('skip', () => void file().marks.set(node, Math.max(through, file().marks.get(node) ?? 0))),
    rollUp: () => call('rollUp', () => ({ rolled: 0, waiting: 0 })),
    async backup(path: string) {
      await call('backup', () => {
        stores.backup = copyFile(file())
        if (!disk.find(path)) disk.create(path, 'file')
        ;(disk.find(path) as { mtimeMs: number }).mtimeMs = world.wallClock()
      })
    },
    async close() {
      opened = { marks: new Map(), hits: [] }
    },
  }
}

/** @throws for a line that is no hit, as engines do */
function readBatch(disk: Disk, path: string): Hit[] {
  const inode = disk.find(path)
  if (!inode) throw new Error(`No batch at ${path}`)
  const bytes = inode.cache.slice(0, inode.size)
  const text = path.endsWith('.zst') ? Buffer.concat([...readZstdFrames(bytes)]) : Buffer.from(bytes)
  return text
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** @returns stores the counts of a batch once, as the server's rows do */
export function createClickRows(stores: HitStores, process: SimulatedProcess) {
  const { world } = process
  return {
    getMark: (node: string) => stores.marks.get(node) ?? 0,
    async storeCounts({
      node,
      number,
      counts,
    }: {
      node: string
      number: number
      counts: [number, number, number][]
    }) {
      const losesAnswer = world.chance(0.05)
      await process.call(`count ${number}`, world.random() * 10, () => {
        if (world.now() < stores.rowsAwayUntil) throw new Error('The rows are away')
        if ((stores.marks.get(node) ?? 0) < number || stores.forgetsMarks) {
          stores.marks.set(node, number)
          for (const [linkId, clicks] of counts)
            stores.clicks.set(linkId, (stores.clicks.get(linkId) ?? 0) + clicks)
          world.note(`rows count batch ${number}`)
        }
        if (losesAnswer) throw new Error('The connection broke after the commit')
      })
    },
  }
}
