// Exports a whole workspace as one zip: a file for each kind of thing, and a manifest at the end.

import { open } from 'node:fs/promises'
import { createExportDirectory } from '../../../storage/export-directory.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import { splitIntoSlices, type TimeSlice } from '../../../storage/hits/duckdb/time-slices.ts'
import { HIT_CLASSES, HIT_OUTCOMES } from '../../../storage/hits/hit.ts'
import type { HitReader } from '../../../storage/hits/hit-engine.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { LinkExportNeeds } from './export-links.ts'
import { createManifest, MANIFEST_NAME, WORKSPACE_FILES, type WorkspaceFileName } from './manifest.ts'
import { streamFiles } from './stream-files.ts'
import {
  streamAttempts,
  streamChannels,
  streamLinks,
  streamMisses,
  streamSettings,
  streamSubmissions,
  streamTable,
  type WorkspaceScan,
} from './stream-workspace.ts'
import {
  toDomainRecord,
  toFormRecord,
  toTagRecord,
  toUtmTemplateRecord,
  toViewRecord,
} from './workspace-records.ts'
import { writeZip } from './zip-stream.ts'

export interface WorkspaceExportNeeds extends LinkExportNeeds {
  hits: Pick<HitReader, 'ask' | 'export'>
  /** The store of the submissions' files. */
  fileStore: Pick<FileStore, 'read'>
  /** The directory for exports (storage/export-directory.ts). */
  scratchDir: string
  now: () => number
  /** The server's version. */
  version: string
  /** Assigns links to the workspace's pending submissions, within at most two seconds. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

/**
 * Rows that are stored after the call are left out, so everything that a link, submission or hit refers to is in the file.
 * @param signal aborts the export when the caller disconnects
 * @throws Failure `forbidden`
 */
export async function exportWorkspace(
  needs: WorkspaceExportNeeds,
  actor: Actor,
  signal: AbortSignal,
): Promise<AsyncGenerator<Uint8Array>> {
  allow(actor, 'workspace:export')
  const { db, now, version, site } = needs
  const { workspaceId } = actor
  await needs.resolvePendingAttribution(workspaceId)
  const exportedAt = now()
  const workspace = await db.read
    .selectFrom('workspaces')
    .select(['public_id', 'name', 'created_at'])
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  const newest = await db.read
    .selectFrom('submissions')
    .select((e) => e.fn.max('id').as('id'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  const scan = { ...needs, actor, signal }
  const upTo = Number(newest?.id ?? 0)
  const readers = createReaders(scan, { upTo, until: exportedAt })
  const parts = WORKSPACE_FILES.map((name) => ({ name, read: readers[name] }))
  const facts = { product: version, exportedAt, defaultDomain: site.domain }
  return writeZip(parts, streamFiles(scan, upTo), MANIFEST_NAME, (sums) =>
    JSON.stringify(createManifest(facts, workspace, sums), null, 2),
  )
}

function createReaders(
  scan: WorkspaceScan & WorkspaceExportNeeds,
  { upTo, until }: { upTo: number; until: number },
): Record<WorkspaceFileName, () => AsyncIterable<string | Uint8Array>> {
  return {
    'tags.ndjson': () => streamTable(scan, 'tags', toTagRecord),
    'domains.ndjson': () => streamTable(scan, 'domains', toDomainRecord),
    'channels.ndjson': () => streamChannels(scan),
    'forms.ndjson': () => streamTable(scan, 'forms', toFormRecord),
    'links.ndjson': () => streamLinks(scan),
    'attempts.ndjson': () => streamAttempts(scan),
    'submissions.ndjson': () => streamSubmissions(scan, upTo),
    'misses.ndjson': () => streamMisses(scan),
    'views.ndjson': () => streamTable(scan, 'views', toViewRecord),
    'settings.ndjson': () => streamSettings(scan),
    'utm-templates.ndjson': () => streamTable(scan, 'utm_templates', toUtmTemplateRecord),
    'hits.ndjson': () => streamHits({ ...scan, workspaceId: scan.actor.workspaceId, until }),
  }
}

interface HitScan {
  hits: Pick<HitReader, 'ask' | 'export'>
  /** The directory for exports (storage/export-directory.ts). */
  scratchDir: string
  workspaceId: number
  /** Milliseconds; only hits from before are read. */
  until: number
  signal: AbortSignal
}

/** A file of 50 MB. */
const SLICE_HITS = 100_000
const READ_BYTES = 64 * 1024

/** Clicks, page views and refused requests of people and of robots. */
const toSelection = ({ workspaceId }: HitScan, { start, end }: TimeSlice) => ({
  workspaceId,
  start,
  end,
  classes: [...HIT_CLASSES],
  outcomes: [...HIT_OUTCOMES],
  filters: [],
})

/**
 * Reads all hits of a workspace from the hit engine, oldest first. The engine writes them in slices to files, and each file is
 * sent and deleted before the next one is written. So an export of any history needs little disk space.
 */
async function* streamHits(scan: HitScan): AsyncGenerator<Uint8Array> {
  for (const slice of await planSlices(scan)) {
    scan.signal.throwIfAborted()
    yield* readSlice(scan, slice)
  }
}

const planSlices = (scan: HitScan) =>
  splitIntoSlices({ start: 0, end: scan.until }, SLICE_HITS, async (range, width) => {
    const count = Math.ceil((range.end - range.start) / width)
    const starts = Array.from({ length: count }, (_, index) => range.start + index * width)
    const buckets = await scan.hits.ask({ ...toSelection(scan, range), groupBy: { by: 'time', starts } })
    return buckets.map(({ key, clicks }) => {
      const start = Number(key)
      return { start, end: Math.min(start + width, range.end), hits: clicks }
    })
  })

async function* readSlice(scan: HitScan, slice: TimeSlice): AsyncGenerator<Uint8Array> {
  const directory = await createExportDirectory(scan.scratchDir)
  try {
    const request = { selection: toSelection(scan, slice), format: 'history', dir: directory.path } as const
    const { path } = await scan.hits.export(request, scan.signal)
    const file = await open(path)
    try {
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  } finally {
    await directory.remove()
  }
}
