// The clicks themselves, as a file: links are named from the rows, the engine sorts and writes.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, unavailable } from '../../lib/failure.ts'
import type { ExportFormat, HitAnswers, HitSelection } from '../../storage/hits/engine.ts'
import type { Rows } from '../../storage/rows/engine.ts'
import type { Actor } from '../accounts/actor.ts'
import { resolveSelection } from './answer.ts'
import type { exportPlaces } from './export-places.ts'
import type { ClickSelection } from './schema.ts'
import { ownDirectory } from './scratch.ts'

/** Reading so many links holds up redirects for 3 ms. */
const LINKS_AT_ONCE = 500

export interface Needs {
  rows: Pick<Rows, 'read'>
  hits: Pick<HitAnswers, 'export'>
  now: () => number
  /** What links of the default domain (stored as '') are shown under. */
  defaultDomain: string
  /** See scratch.ts. */
  scratchDir: string
  places: ReturnType<typeof exportPlaces>
}

export interface ClickFile {
  path: string
  bytes: number
  selection: HitSelection
  /** To be called when it is sent, or nobody wants it any more. */
  remove(): Promise<void>
}

type Asker = Pick<Actor, 'workspaceId'>

/**
 * Deleted links keep their names.
 * @param signal whoever asked has gone. @throws `invalid` for an empty range, `unavailable` for want of engine, disk or place
 */
export async function exportClicks(
  needs: Needs,
  actor: Asker,
  { format, ...asked }: ClickSelection & { format: ExportFormat },
  signal: AbortSignal,
): Promise<ClickFile> {
  const selection = await resolveSelection(needs, actor, asked)
  return needs.places.use(actor.workspaceId, signal, async () => {
    let directory: Awaited<ReturnType<typeof ownDirectory>> | undefined
    try {
      directory = await ownDirectory(needs.scratchDir)
      const { path: dir, remove } = directory
      const links = await writeLinkNames(needs, actor, join(dir, 'links'), signal)
      const file = await needs.hits.export({ selection, format, dir, links }, signal)
      return { ...file, selection, remove }
    } catch (error) {
      await directory?.remove()
      // A full disk, most likely. Whatever it is, another try may find it gone.
      throw error instanceof Failure ? error : unavailable(error)
    }
  })
}

/** Every link the workspace has or had, a few at a time so that redirects pass in between. */
async function writeLinkNames(
  { rows, defaultDomain }: Needs,
  { workspaceId }: Asker,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const file = await open(path, 'wx', 0o600)
  try {
    for (let last = 0; ; ) {
      signal.throwIfAborted()
      const links = await rows.read
        .selectFrom('links')
        .select(['id', 'slug', 'domain'])
        .where('workspace_id', '=', workspaceId)
        .where('id', '>', last)
        .orderBy('id')
        .limit(LINKS_AT_ONCE)
        .execute()
      const lines = links.map(({ domain, ...link }) =>
        JSON.stringify({ ...link, domain: domain || defaultDomain }),
      )
      await file.writeFile(lines.map((line) => `${line}\n`).join(''))
      if (links.length < LINKS_AT_ONCE) return path
      last = links.at(-1)?.id as number
    }
  } finally {
    await file.close()
  }
}
