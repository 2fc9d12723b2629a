// Fixture of click histories: imports as rows, and histories without files of a tool.

import type { Database } from '../../../storage/database/open-database.ts'
import type { SourceClick } from '../sources/source.ts'
import { createSourceClick } from '../sources/source-click.ts'
import { answerReader, hasEarlierHistory } from './answer-reader.ts'
import { storeTotals } from './click-totals.ts'
import type { HistoryMessage, HistoryReply, HistoryRow, HistoryTask } from './messages.ts'
import { readHistory } from './read-history.ts'
import { recoverChunks } from './store-chunk.ts'

/** After every click of a test. No job of the server prunes the import for its age. */
const CREATED_AT = Date.UTC(2030, 0, 1)

/** A row whose key is the link's id. */
export const toHistoryRow = (linkId: number, click: Partial<SourceClick>, row = 2): HistoryRow => ({
  row,
  keys: [String(linkId)],
  click: createSourceClick({ at: 0, slug: String(linkId), ...click }),
  problems: [],
})

export interface HistorySetup {
  db: Database
  dataDir: string
  workspaceId: number
}

/** An import that runs, with the totals of its links. */
export async function createImportRow(
  { db, workspaceId }: HistorySetup,
  totals: [linkId: number, total: number][] = [],
): Promise<number> {
  return db.write(async (connection) => {
    const { id } = await connection
      .insertInto('imports')
      .values({
        workspace_id: workspaceId,
        node: 'test',
        source: 'yourls',
        status: 'running',
        stage: 'clicks',
        dry_run: 0,
        on_conflict: 'skip',
        options: '{}',
        file_name: null,
        file_bytes: 0,
        clicks_file_name: null,
        clicks_file_bytes: null,
        total: null,
        problem: null,
        actor: '{}',
        created_at: CREATED_AT,
        started_at: null,
        finished_at: null,
        undone_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await storeTotals(db.engine, connection, { workspaceId, importId: id }, totals)
    return id
  })
}

export interface RunOptions extends Partial<HistoryTask> {
  /** Comes before each message of the reader. */
  before?(message: HistoryMessage): void
  /** Comes after each message of the reader. */
  after?(message: HistoryMessage): void
}

/** Brings a history to an import, from where it was. Links are named by their ids. */
export async function runHistory(
  house: HistorySetup,
  importId: number,
  rows: readonly HistoryRow[],
  { before, after, ...options }: RunOptions = {},
): Promise<void> {
  const { db, dataDir, workspaceId } = house
  await recoverChunks({ db, dataDir }, importId)
  const { position, chunks } = await db.read
    .selectFrom('imports')
    .select(['position', 'chunks'])
    .where('id', '=', importId)
    .executeTakeFirstOrThrow()
  const task: HistoryTask = {
    importId,
    workspaceId,
    dataDir,
    geoPath: undefined,
    ownHosts: [],
    now: CREATED_AT,
    since: 0,
    settled: position,
    chunks,
    hasEarlier: await hasEarlierHistory(db.read, { importId, workspaceId }),
    dryRun: false,
    ...options,
  }
  const findLinks = async (keys: string[]) => keys.map(Number)
  async function* openHistory() {
    for (let from = 0; from < rows.length; from += 500) yield rows.slice(from, from + 500)
  }
  await readHistory(task, openHistory, async (message): Promise<HistoryReply> => {
    before?.(message)
    const reply = await answerReader({ db, dataDir, findLinks }, task, message)
    after?.(message)
    return reply
  })
}
