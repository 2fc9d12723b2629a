// Exports a whole workspace as one zip: a file for each kind of thing, and a manifest at the end.

import type { FileStore } from '../../../storage/files/file-store.ts'
import type { HitReader } from '../../../storage/hits/hit-engine.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { LinkExportNeeds } from './export-links.ts'
import { createManifest, MANIFEST_NAME, WORKSPACE_FILES, type WorkspaceFileName } from './manifest.ts'
import { streamFiles } from './stream-files.ts'
import { streamHits } from './stream-hits.ts'
import {
  streamAttempts,
  streamChannels,
  streamDomains,
  streamForms,
  streamLinks,
  streamMisses,
  streamSubmissions,
  streamTags,
  type WorkspaceScan,
} from './stream-workspace.ts'
import { writeZip } from './zip-stream.ts'

export interface WorkspaceExportNeeds extends LinkExportNeeds {
  hits: Pick<HitReader, 'ask' | 'export'>
  /** Has the files of submissions. */
  fileStore: Pick<FileStore, 'read'>
  /** The directory for exports (storage/export-directory.ts). */
  scratchDir: string
  now: () => number
  /** The server's version. */
  version: string
  /** Assigns links to the workspace's pending submissions, as far as that takes at most two seconds. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

/**
 * What is stored after the call is not in the file: what a link, submission or hit refers to is always in it.
 * @param signal ends the export when the caller is gone
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
    'tags.ndjson': () => streamTags(scan),
    'domains.ndjson': () => streamDomains(scan),
    'channels.ndjson': () => streamChannels(scan),
    'forms.ndjson': () => streamForms(scan),
    'links.ndjson': () => streamLinks(scan),
    'attempts.ndjson': () => streamAttempts(scan),
    'submissions.ndjson': () => streamSubmissions(scan, upTo),
    'misses.ndjson': () => streamMisses(scan),
    'hits.ndjson': () => streamHits({ ...scan, workspaceId: scan.actor.workspaceId, until }),
  }
}
