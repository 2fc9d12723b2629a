// Lists the forms of a workspace, newest first, one page at a time.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { fitPage, type Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { FormListQueryInput, FormResource } from '../schema.ts'
import { type FormNeeds, selectForms, toFormResource } from './form.ts'

const ORDER = { name: 'forms createdAt desc', table: 'forms', byCreation: true, fit: fitPage }

/** @throws Failure `invalid` for a wrong cursor */
export async function listForms(
  needs: FormNeeds,
  actor: Actor,
  query: FormListQueryInput,
): Promise<Page<FormResource>> {
  const forms = needs.db.read
    .selectFrom('forms')
    .select(['id', 'created_at', FORM_BYTES])
    .where('workspace_id', '=', actor.workspaceId)
  const { rows, ...page } = await listNewest(forms, query, ORDER)
  return { data: await readForms(needs, actor, rows), ...page }
}

/** Rules and texts of a form can have a megabyte. */
const FORM_BYTES =
  sql<number>`octet_length(name) + coalesce(octet_length(rules), 0) + coalesce(octet_length(messages), 0)
  + coalesce(octet_length(spam), 0) + coalesce(octet_length(reply), 0) + coalesce(octet_length(consent), 0)`.as(
    'bytes',
  )

/** SQLite runs on the event loop, and counts the submissions of a form: one form a turn. */
async function readForms(needs: FormNeeds, actor: Actor, rows: { id: number }[]): Promise<FormResource[]> {
  const { engine, read } = needs.db
  const ids = rows.map(({ id }) => id)
  const forms = new Map<number, FormResource>()
  for (const step of engine === 'sqlite' ? ids.map((id) => [id]) : [ids]) {
    await takeTurn()
    if (step.length === 0) break
    const found = await selectForms(read, actor).where('forms.id', 'in', step).execute()
    for (const form of found) forms.set(form.id, toFormResource(needs, form))
  }
  return ids.flatMap((id) => forms.get(id) ?? [])
}
