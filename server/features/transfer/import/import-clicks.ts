// The stage `clicks` of an import: imports the click history of its links.

import { listDomainNames } from '../../links/names/domain-directory.ts'
import { listOwnHosts } from '../../links/names/own-hosts.ts'
import { answerReader, hasEarlierHistory } from '../history/answer-reader.ts'
import type { HistoryTask } from '../history/messages.ts'
import { recoverChunks } from '../history/store-chunk.ts'
import type { DryRunNames } from './dry-run-names.ts'
import { findImportRow } from './import-row.ts'
import type { ImportRun } from './import-run.ts'

type FindLinks = (keys: string[]) => Promise<number[]>

export async function importClicks(run: ImportRun, findLinks: FindLinks): Promise<void> {
  const { needs, reader, source, signal, options } = run
  const history = await toHistoryTask(run)
  await recoverChunks(needs, history.importId)
  const answers = { ...needs, signal, findLinks }
  const input = {
    source,
    options: { ...run.reading, dateOrder: options.clicksDateOrder },
    file: run.clicks ?? run.file,
    history,
  }
  await reader.run('clicks', input, (message) => answerReader(answers, history, message))
}

async function toHistoryTask({ needs, row, isDryRun }: ImportRun): Promise<HistoryTask> {
  const { db, site, retentionStart, dataDir, geoPath, now } = needs
  const place = { importId: row.id, workspaceId: row.workspace_id }
  const startedAt = row.started_at ?? now()
  const { position, chunks } = (await findImportRow(db.read, row)) ?? row
  return {
    ...place,
    dataDir,
    geoPath,
    ownHosts: listOwnHosts(site, await listDomainNames(db)),
    now: startedAt,
    since: retentionStart(startedAt),
    settled: position,
    chunks,
    hasEarlier: await hasEarlierHistory(db.read, place),
    dryRun: isDryRun,
  }
}

/** SQLite takes 32,766 values in one statement. */
const KEYS_AT_ONCE = 500
/** Links of a dry run have no id. Their stand-in ids begin here, above those of existing links. */
const DRY_RUN_IDS = 2 ** 36

/** @param taken the links of a dry run */
export const toLinkFinder =
  (run: ImportRun, taken: DryRunNames): FindLinks =>
  (keys) =>
    findLinks(run, taken, keys)

/** The link of each key, or 0. */
async function findLinks(
  { needs, row, source }: ImportRun,
  taken: DryRunNames,
  keys: string[],
): Promise<number[]> {
  const found = new Map<string, number>()
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const rows = await needs.db.read
      .selectFrom('import_keys')
      .innerJoin('links', 'links.id', 'import_keys.link_id')
      .select(['source_key', 'link_id'])
      .where('import_keys.workspace_id', '=', row.workspace_id)
      .where('links.workspace_id', '=', row.workspace_id)
      .where('source', '=', source)
      .where('source_key', 'in', keys.slice(from, from + KEYS_AT_ONCE))
      .where('links.purged_at', 'is', null)
      .execute()
    for (const { source_key, link_id } of rows) found.set(source_key, link_id)
  }
  return keys.map((key) => {
    const dryRunId = taken.has('key', key) ? DRY_RUN_IDS + (Bun.hash.crc32(key) >>> 0) : 0
    return found.get(key) ?? dryRunId
  })
}
