// Checks the data between a redirect and its row of analytics: the spool and the batches of each node, and unreadable
// files that were set aside.

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '../../../lib/formats/format-bytes.ts'
import { type BatchFile, findBatches, listBatchNodes } from '../../hits/batches/batch-file.ts'
import { inspectBatch } from '../../hits/batches/batch-reader.ts'
import { readNodeId } from '../../hits/spool/claim-directory.ts'
import {
  readWritePosition,
  WAITING_HITS,
  WRITE_OFFSET,
  WRITE_SEGMENT,
} from '../../hits/spool/write-position.ts'
import { listDataFiles } from '../data-files.ts'
import { type CheckResult, complaintsOr, problem, skipped, warning } from '../finding.ts'
import { formatCount } from '../format.ts'
import type { DoctorNeeds } from '../needs.ts'

/** A batch is written twice a second while there are hits. */
const LAG_MS = 60_000
/** Reading stops after this time. */
const READ_MS = 2_000

export async function checkSpool(needs: DoctorNeeds): Promise<CheckResult[]> {
  const { settings, nodeDirectories, inspectHits } = needs
  if (!existsSync(settings.dataDir)) return [skipped('DATA_DIR does not exist.')]
  const found: CheckResult[] = []
  const read = { batches: 0, of: 0 }
  const deadline = performance.now() + READ_MS
  for (const dir of nodeDirectories) {
    for (const node of await listBatchNodes(dir)) {
      // The marks after the list: no batch above a mark can be pruned, so a gap there is a loss.
      const batches = await findBatches(dir, node)
      const marks = await inspectHits(false).then(
        (inspection) => inspection?.marks ?? {},
        () => undefined,
      )
      if (marks) found.push(...judgeNumbers(batches, node, marks[node] ?? 0))
      found.push(...(await judgeLag(needs, dir, node, batches)))
      read.of += batches.length
      if (!needs.isThorough) continue
      for (const batch of batches.toReversed()) {
        if (performance.now() > deadline) break
        found.push(...(await judgeContent(batch)))
        read.batches++
      }
    }
  }
  found.push(...(await findLeftDirectories(needs)), ...(await findQuarantined(settings.dataDir)))
  const depth = needs.isThorough
    ? `${read.batches} of ${read.of} were read to their end`
    : 'names and numbers fit'
  return complaintsOr(
    found,
    `The spool is read in time, with ${formatCount(read.of, 'batch file')}; ${depth}.`,
  )
}

function judgeNumbers(batches: BatchFile[], node: string, mark: number): CheckResult[] {
  const waiting = batches.filter(({ number }) => number > mark)
  const gap = waiting.findIndex(({ number }, i) => number !== mark + 1 + i)
  if (gap === -1) return []
  const missing = mark + 1 + gap
  return [
    problem(
      `Batch ${missing} of node ${node} is missing, and the hit store does not have it: analytics lack its clicks.`,
      `Put the file back from a backup of DATA_DIR/batches/${node}. Without it the server keeps running, and the clicks stay lost.`,
    ),
  ]
}

async function judgeContent(batch: BatchFile): Promise<CheckResult[]> {
  const { intact, hits } = await inspectBatch(batch.path)
  // It may have been pruned in the meantime.
  if (intact || !existsSync(batch.path)) return []
  return [
    problem(
      `Batch ${batch.number} of node ${batch.node} is damaged (${hits} lines): a rebuilt hit store would lack them.`,
      'Check the disk (smartctl, dmesg). Put the file back from a backup of DATA_DIR/batches.',
    ),
  ]
}

/** The last batch says how far the spool was read. */
async function judgeLag(
  { now, isServerRunning }: DoctorNeeds,
  dir: string,
  node: string,
  batches: BatchFile[],
): Promise<CheckResult[]> {
  const spool = join(dir, 'spool')
  if ((await readNodeId(spool)) !== node || !isServerRunning) return []
  const position = readWritePosition(spool)
  if (!position) return []
  const waiting = position[WAITING_HITS] ?? 0
  const last = batches.at(-1)
  const bytes =
    last && last.end.seq === position[WRITE_SEGMENT] ? (position[WRITE_OFFSET] ?? 0) - last.end.offset : 0
  if (waiting > 0)
    return [
      problem(
        `The disk has no room for ${formatCount(waiting, 'click')}, which wait in memory.`,
        'Make room on the disk of DATA_DIR.',
      ),
    ]
  if (last === undefined || bytes <= 0 || now() - last.writtenAt < LAG_MS) return []
  // A batch of a minute ago and one new click: the worker gets time to start.
  if (!(await staysBehind(dir, node, last.number))) return []
  return [
    problem(
      `${formatBytes(bytes)} of clicks wait in the spool, and the last batch is of ${new Date(last.writtenAt).toISOString()}.`,
      'See the log of the server for ship_failed. Redirects continue, and no click is lost.',
    ),
  ]
}

const STAYS_MS = 3_000

async function staysBehind(dir: string, node: string, number: number): Promise<boolean> {
  const deadline = performance.now() + STAYS_MS
  while (performance.now() < deadline) {
    await Bun.sleep(200)
    const last = (await findBatches(dir, node)).at(-1)
    if ((last?.number ?? 0) > number) return false
  }
  return true
}

/** Directories of workers that no longer start (WORKERS). */
async function findLeftDirectories({ settings, nodeDirectories }: DoctorNeeds): Promise<CheckResult[]> {
  const { dataDir } = settings
  const names = (await readdir(dataDir)).filter((name) => name === 'spool' || /^worker-\d+$/.test(name))
  const left = names
    .map((name) => (name === 'spool' ? dataDir : join(dataDir, name)))
    .filter((dir) => !nodeDirectories.includes(dir) && existsSync(join(dir, 'spool')))
  return left.map((dir) =>
    warning(
      `No server of this installation works on ${dir}: it has clicks that are not loaded yet.`,
      `npx towpath adopt ${dir}`,
    ),
  )
}

const QUARANTINED = /\.corrupt-\d+$|\.unreadable$/

async function findQuarantined(dataDir: string): Promise<CheckResult[]> {
  const names = (await listDataFiles(dataDir))
    .map(({ name }) => name)
    .filter((name) => QUARANTINED.test(name))
  if (names.length === 0) return []
  return [
    warning(
      `${formatCount(names.length, 'file')} could not be read, and were set aside (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}).`,
      'The log lists their contents. Restore the needed ones from a backup, and then delete these files.',
    ),
  ]
}
