// Exports a whole workspace as one zip: a file for each kind of thing, and a manifest at the end.

import type { HitReader } from '../../../storage/hits/hit-engine.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { LinkExportNeeds } from './export-links.ts'
import { createManifest, MANIFEST_NAME, WORKSPACE_FILES, type WorkspaceFileName } from './manifest.ts'
import { readHits } from './read-hits.ts'
import {
  readAttempts,
  readChannels,
  readDomains,
  readForms,
  readLinks,
  readMisses,
  readSubmissions,
  readTags,
  type WorkspaceScan,
} from './read-workspace.ts'
import { writeZip } from './zip-stream.ts'

export interface WorkspaceExportNeeds extends LinkExportNeeds {
  hits: Pick<HitReader, 'ask' | 'export'>
  /** The directory for exports (storage/export-directory.ts). */
  scratchDir: string
  now: () => number
  /** Of the server. */
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
  const readers = createReaders(scan, { upTo: Number(newest?.id ?? 0), until: exportedAt })
  const parts = WORKSPACE_FILES.map((name) => ({ name, read: readers[name] }))
  const facts = { product: version, exportedAt, defaultDomain: site.domain }
  return writeZip(parts, MANIFEST_NAME, (sums) =>
    JSON.stringify(createManifest(facts, workspace, sums), null, 2),
  )
}

function createReaders(
  scan: WorkspaceScan & WorkspaceExportNeeds,
  { upTo, until }: { upTo: number; until: number },
): Record<WorkspaceFileName, () => AsyncIterable<string | Uint8Array>> {
  return {
    'tags.ndjson': () => readTags(scan),
    'domains.ndjson': () => readDomains(scan),
    'channels.ndjson': () => readChannels(scan),
    'forms.ndjson': () => readForms(scan),
    'links.ndjson': () => readLinks(scan),
    'attempts.ndjson': () => readAttempts(scan),
    'submissions.ndjson': () => readSubmissions(scan, upTo),
    'misses.ndjson': () => readMisses(scan),
    'hits.ndjson': () => readHits({ ...scan, workspaceId: scan.actor.workspaceId, until }),
  }
}
