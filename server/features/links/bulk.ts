// Creates, changes or deletes many links in one transaction: all or none. Errors name the index of each link.

import { createPacer } from '../../lib/concurrency/next-turn.ts'
import { hashPassword } from '../../lib/crypto/password.ts'
import { Failure, invalid } from '../../lib/failure.ts'
import { toNestedDatabase } from '../../storage/database/nested-database.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import { toErrorField } from './conflict.ts'
import { createLinkIn, type LinkNeeds } from './create.ts'
import { deleteLinkIn, toDeleteAction } from './delete.ts'
import type { CreateLinkInput, LinkResource, UpdateLinkInput } from './schema.ts'
import { updateLinkIn } from './update.ts'

/** @throws Failure with `errors` by index, such as `{"2.slug": "Slug already in use"}` */
export async function createLinks(
  needs: LinkNeeds,
  actor: Actor,
  inputs: CreateLinkInput[],
): Promise<LinkResource[]> {
  const hashes = await hashPasswords(inputs)
  return runAllOrNothing(needs.db, [...inputs.entries()], (db, input, i) =>
    db.write((connection, onCommit) =>
      createLinkIn({ ...needs, connection, onCommit }, actor, input, hashes[i]),
    ),
  )
}

/** @throws Failure with `errors` by index */
export async function updateLinks(
  needs: LinkNeeds,
  actor: Actor,
  inputs: (UpdateLinkInput & { id: number })[],
): Promise<LinkResource[]> {
  const hashes = await hashPasswords(inputs)
  return runAllOrNothing(needs.db, [...inputs.entries()], (db, { id, ...input }, i) =>
    db.write((connection, onCommit) =>
      updateLinkIn({ ...needs, connection, onCommit }, actor, id, input, { passwordHash: hashes[i] }),
    ),
  )
}

/** @throws Failure with `errors` by index */
export async function deleteLinks(
  needs: LinkNeeds,
  actor: Actor,
  ids: number[],
  permanent = false,
): Promise<LinkResource[]> {
  return needs.db.write(async (connection, onCommit) => {
    const nested = toNestedDatabase(needs.db, connection, onCommit)
    const links = await runAllOrNothing(nested, toDistinct(ids), (db, id) =>
      db.write((inner, onInnerCommit) =>
        deleteLinkIn({ ...needs, connection: inner, onCommit: onInnerCommit }, actor, id, { permanent }),
      ),
    )
    const detail = { count: links.length, ids: links.map(({ id }) => String(id)) }
    await recordAudit(connection, actor, { action: toDeleteAction(permanent), detail }, needs.now())
    return links
  })
}

/** Each id once, with the index that the request has it at first. */
export const toDistinct = (ids: number[]) => [...ids.entries()].filter(([i, id]) => ids.indexOf(id) === i)

/** Hashes one password after the other, and each distinct password once: the queue of hashes is shorter than 100. */
async function hashPasswords(inputs: { password?: string | null }[]) {
  const hashes = new Map<string | null | undefined, string | null | undefined>()
  for (const { password } of inputs) {
    if (!hashes.has(password)) hashes.set(password, await hashPassword(password, 'links'))
  }
  return inputs.map(({ password }) => hashes.get(password))
}

/** Applies `apply` to every item, or to none. @throws Failure with `errors` by index */
export function runAllOrNothing<In>(
  db: Database,
  items: [index: number, item: In][],
  apply: (db: Database, item: In, index: number) => Promise<LinkResource>,
): Promise<LinkResource[]> {
  return db.write(async (connection, onCommit) => {
    const nested = toNestedDatabase(db, connection, onCommit)
    const { results, failures } = await runEach(nested, items, apply)
    if (failures.length > 0) throw toBulkFailure(failures)
    return results
  })
}

export interface BulkFailure<In> {
  index: number
  item: In
  failure: Failure
}

/** Applies `apply` to one item after the other, also after failures. */
export async function runEach<In, Out>(
  db: Database,
  items: [index: number, item: In][],
  apply: (db: Database, item: In, index: number) => Promise<Out>,
): Promise<{ results: Out[]; failures: BulkFailure<In>[] }> {
  const results: Out[] = []
  const failures: BulkFailure<In>[] = []
  const pace = createPacer()
  for (const [index, item] of items) {
    await pace()
    try {
      results.push(await apply(db, item, index))
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'unavailable') throw error
      failures.push({ index, item, failure: error })
    }
  }
  return { results, failures }
}

/** The first failure decides the status; `errors` has all of them. */
function toBulkFailure(failures: BulkFailure<unknown>[]): Failure {
  const errors: Record<string, string> = {}
  for (const { index, failure } of failures) {
    const fieldErrors = failure.detail.errors ?? { [toErrorField(failure)]: failure.message }
    for (const [field, message] of Object.entries(fieldErrors)) errors[`${index}.${field}`] = message
  }
  const { code, message } = (failures[0] as BulkFailure<unknown>).failure
  return code === 'invalid' ? invalid(errors) : new Failure(code, message, { errors })
}
