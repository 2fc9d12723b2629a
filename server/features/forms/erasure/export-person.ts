// Exports all data of one email address in a workspace, as a zip that is written while it is sent.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { type FileOfZip, zipFiles } from '../../../lib/formats/zip-files.ts'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { getAttributionReport } from '../submissions/attribution-report.ts'
import { type SubmissionNeeds, type SubmissionRow, toSubmissionResource } from '../submissions/submission.ts'
import { listTeamReplies } from '../team-replies/list-team-replies.ts'
import { scanPerson } from './find-person.ts'

export interface PersonExportNeeds extends SubmissionNeeds {
  now: () => number
  fileStore: Pick<FileStore, 'read'>
}

/** Ids per statement. */
const IDS_AT_ONCE = 100

export async function* exportPerson(
  needs: PersonExportNeeds,
  actor: Actor,
  email: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const ids: number[] = []
  const source = { needs, actor, email, signal, ids }
  yield* zipFiles(listParts(source))
}

interface PersonSource {
  needs: PersonExportNeeds
  actor: Actor
  email: string
  signal: AbortSignal
  /** The ids of the submissions in the zip. */
  ids: number[]
}

/** The submissions come first, because the other parts need their ids. */
async function* listParts(source: PersonSource): AsyncGenerator<FileOfZip> {
  yield { name: 'submissions.json', read: () => writeSubmissions(source) }
  yield { name: 'deliveries.json', read: () => writeDeliveries(source) }
  yield* listFiles(source)
  yield { name: 'README.txt', read: () => writeReadMe(source) }
}

async function* writeSubmissions(source: PersonSource): AsyncGenerator<string> {
  const { needs, actor, email, signal, ids } = source
  yield '{"data":['
  for await (const rows of scanPerson(needs, actor, email, signal)) {
    for (const row of rows) {
      await takeTurn()
      yield `${ids.length === 0 ? '\n' : ',\n'}${await writeSubmission(source, row)}`
      ids.push(row.id)
    }
  }
  // An incomplete copy must not look complete.
  signal.throwIfAborted()
  yield '\n]}\n'
}

async function writeSubmission({ needs, actor }: PersonSource, row: SubmissionRow): Promise<string> {
  const submission = toSubmissionResource(needs, row)
  const touches = await getAttributionReport(needs, actor, row.id)
  const outcomes = await readOutcomes(needs.db.read, actor, row.id)
  const replies = await listTeamReplies(needs.db.read, actor, [row.id])
  return orderedJson({ ...submission, touches, outcomes, replies })
}

async function readOutcomes(connection: Connection, { workspaceId }: Actor, submissionId: number) {
  const rows = await connection
    .selectFrom('outcomes')
    .select(['stage', 'value', 'currency', 'at', 'external_id'])
    .where(sql<boolean>`+workspace_id = ${workspaceId}`)
    .where('submission_id', '=', submissionId)
    .orderBy('id')
    .execute()
  return rows.map(({ external_id: externalId, at, ...row }) => ({ ...row, at: toIso(at), externalId }))
}

async function* writeDeliveries({ needs, actor, ids }: PersonSource): AsyncGenerator<string> {
  yield '{"data":['
  let first = true
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    await takeTurn()
    const rows = await readDeliveries(needs.db.read, actor, ids.slice(from, from + IDS_AT_ONCE))
    for (const row of rows) {
      yield `${first ? '\n' : ',\n'}${JSON.stringify(row)}`
      first = false
    }
  }
  yield '\n]}\n'
}

/**
 * The deliveries of the submissions, with channel and time. Addresses of channels are left out, and so is the sent text, which
 * repeats the submission.
 */
async function readDeliveries(connection: Connection, { workspaceId }: Actor, submissionIds: number[]) {
  const rows = await connection
    .selectFrom('deliveries')
    .innerJoin('channels', 'channels.id', 'deliveries.channel_id')
    .select([
      'deliveries.submission_id',
      'deliveries.event',
      'deliveries.status',
      'deliveries.created_at',
      'deliveries.finished_at',
      'channels.name',
      'channels.type',
    ])
    // The plus makes SQLite use the index on submissions. Otherwise it would read all deliveries of the workspace.
    .where(sql<boolean>`+deliveries.workspace_id = ${workspaceId}`)
    .where('channels.workspace_id', '=', workspaceId)
    .where('deliveries.submission_id', 'in', submissionIds)
    .orderBy('deliveries.id')
    .execute()
  return rows.map((row) => ({
    submissionId: row.submission_id,
    event: row.event,
    channel: row.name,
    type: row.type,
    status: row.status,
    createdAt: toIso(row.created_at),
    finishedAt: toIsoOrNull(row.finished_at),
  }))
}

async function* listFiles({ needs, actor, ids, signal }: PersonSource): AsyncGenerator<FileOfZip> {
  for (let from = 0; from < ids.length && !signal.aborted; from += IDS_AT_ONCE) {
    await takeTurn()
    const files = await needs.db.read
      .selectFrom('submission_files')
      .select(['id', 'submission_id', 'name', 'key'])
      .where('workspace_id', '=', actor.workspaceId)
      .where('submission_id', 'in', ids.slice(from, from + IDS_AT_ONCE))
      .orderBy('id')
      .execute()
    for (const { id, submission_id, name, key } of files) {
      const content = await needs.fileStore.read(key)
      // The file may be erased meanwhile.
      if (content) yield { name: `files/${submission_id}/${id}-${toZipName(name)}`, read: () => content }
    }
  }
}

/** Stored names are already safe. This keeps the zip valid for any name. */
const toZipName = (name: string) => name.replace(/[\\/:\p{Cc}]/gu, '_').replace(/^\.+/, '_')

async function* writeReadMe({ email, ids, needs }: PersonSource): AsyncGenerator<string> {
  yield `Data of ${email}
${'='.repeat(8 + email.length)}

This file was created on ${toIso(needs.now())}. It has ${ids.length} ${ids.length === 1 ? 'submission' : 'submissions'}.

submissions.json  The submissions of this address. Each has the pages, the campaign and the links before
                  it ("touches"), the sender's consent ("consent"), its outcomes ("outcomes"), and the
                  replies of the team ("replies").
deliveries.json   The notifications about each submission, with their times, and the mails to the sender.
files/            The files of the submissions, by the number of the submission.

A submission is included if the address is in the field "email", or is the whole value of another
field. Longer texts that mention the address are not included, and neither are submissions of other
addresses. Times are UTC.
`
}
