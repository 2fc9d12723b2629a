// Many links in one transaction: all or nothing, and every mistake named by its index.

import { Failure, invalid } from '../../lib/failure.ts'
import { hashPassword } from '../../lib/password.ts'
import { type Rows, rowsWithin } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'
import { fieldOf } from './conflict.ts'
import { createLinkIn, type LinkNeeds } from './create.ts'
import { deleteLinkIn } from './delete.ts'
import type { CreateLinkInput, LinkResource, UpdateLinkInput } from './schema.ts'
import { updateLinkIn } from './update.ts'

/** @throws Failure with `errors` by index, such as `{"2.slug": "Slug already in use"}` */
export async function createLinks(
  needs: LinkNeeds,
  actor: Actor,
  inputs: CreateLinkInput[],
): Promise<LinkResource[]> {
  const hashes = await hashPasswords(inputs)
  return allOrNothing(needs.rows, [...inputs.entries()], (rows, input, i) =>
    rows.write((db, onCommit) => createLinkIn(needs, db, onCommit, actor, input, hashes[i])),
  )
}

/** @throws Failure with `errors` by index */
export async function updateLinks(
  needs: LinkNeeds,
  actor: Actor,
  inputs: (UpdateLinkInput & { id: number })[],
): Promise<LinkResource[]> {
  const hashes = await hashPasswords(inputs)
  return allOrNothing(needs.rows, [...inputs.entries()], (rows, { id, ...input }, i) =>
    rows.write((db, onCommit) => updateLinkIn(needs, db, onCommit, actor, id, input, hashes[i])),
  )
}

/** @throws Failure with `errors` by index */
export async function deleteLinks(needs: LinkNeeds, actor: Actor, ids: number[]): Promise<LinkResource[]> {
  const once = [...ids.entries()].filter(([i, id]) => ids.indexOf(id) === i)
  return allOrNothing(needs.rows, once, (rows, id) =>
    rows.write((db, onCommit) => deleteLinkIn(needs, db, onCommit, actor, id)),
  )
}

/** One after the other, and each password once: a hundred at a time would be more than may wait in line. */
async function hashPasswords(inputs: { password?: string | null }[]) {
  const hashes = new Map<string | null | undefined, string | null | undefined>()
  for (const { password } of inputs) {
    if (!hashes.has(password)) hashes.set(password, await hashPassword(password))
  }
  return inputs.map(({ password }) => hashes.get(password))
}

function allOrNothing<In>(
  rows: Rows,
  items: [index: number, item: In][],
  each: (rows: Rows, item: In, index: number) => Promise<LinkResource>,
): Promise<LinkResource[]> {
  return rows.write(async (db, onCommit) => {
    const inside = rowsWithin(rows, db, onCommit)
    const done: LinkResource[] = []
    const failures: [number, Failure][] = []
    for (const [i, item] of items) {
      try {
        done.push(await each(inside, item, i))
      } catch (error) {
        if (!(error instanceof Failure) || error.code === 'unavailable') throw error
        failures.push([i, error])
      }
    }
    if (failures.length > 0) throw bulkFailure(failures)
    return done
  })
}

/** The first mistake decides the status; `errors` has them all. */
function bulkFailure(failures: [number, Failure][]): Failure {
  const errors: Record<string, string> = {}
  for (const [i, failure] of failures) {
    const own = failure.detail.errors ?? { [fieldOf(failure)]: failure.message }
    for (const [field, message] of Object.entries(own)) errors[`${i}.${field}`] = message
  }
  const [, { code, message }] = failures[0] as [number, Failure]
  return code === 'invalid' ? invalid(errors) : new Failure(code, message, { errors })
}
