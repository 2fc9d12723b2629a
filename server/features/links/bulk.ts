// Many links in one transaction: all or nothing, and every mistake named by its index.

import { Failure } from '../../lib/failure.ts'
import { type Rows, rowsWithin } from '../../storage/rows/open.ts'
import type { Actor } from '../accounts/actor.ts'
import { createLinkIn, type LinkNeeds } from './create.ts'
import { deleteLinkIn } from './delete.ts'
import { hashPassword } from './password.ts'
import type { CreateLinkInput, LinkResource, UpdateLinkInput } from './schema.ts'
import { updateLinkIn } from './update.ts'

/** @throws Failure with `errors` by index, such as `{"2.slug": "Slug already in use"}` */
export async function createLinks(
  needs: LinkNeeds,
  actor: Actor,
  inputs: CreateLinkInput[],
): Promise<LinkResource[]> {
  const hashes = await Promise.all(inputs.map((input) => hashPassword(input.password)))
  return allOrNothing(needs.rows, inputs, (rows, input, i) =>
    rows.write((db, onCommit) => createLinkIn(needs, db, onCommit, actor, input, hashes[i])),
  )
}

/** @throws Failure with `errors` by index */
export async function updateLinks(
  needs: LinkNeeds,
  actor: Actor,
  inputs: (UpdateLinkInput & { id: number })[],
): Promise<LinkResource[]> {
  const hashes = await Promise.all(inputs.map((input) => hashPassword(input.password)))
  return allOrNothing(needs.rows, inputs, (rows, { id, ...input }, i) =>
    rows.write((db, onCommit) => updateLinkIn(needs, db, onCommit, actor, id, input, hashes[i])),
  )
}

/** @throws Failure with `errors` by index */
export async function deleteLinks(needs: LinkNeeds, actor: Actor, ids: number[]): Promise<LinkResource[]> {
  return allOrNothing(needs.rows, [...new Set(ids)], (rows, id) =>
    rows.write((db, onCommit) => deleteLinkIn(needs, db, onCommit, actor, id)),
  )
}

function allOrNothing<In>(
  rows: Rows,
  items: In[],
  each: (rows: Rows, item: In, index: number) => Promise<LinkResource>,
): Promise<LinkResource[]> {
  return rows.write(async (db, onCommit) => {
    const inside = rowsWithin(rows, db, onCommit)
    const done: LinkResource[] = []
    const failures: [number, Failure][] = []
    for (const [i, item] of items.entries()) {
      try {
        done.push(await each(inside, item, i))
      } catch (error) {
        if (!(error instanceof Failure) || error.code === 'unavailable') throw error
        failures.push([i, error])
      }
    }
    const [first] = failures
    if (!first) return done
    throw new Failure(first[1].code, first[1].message, { errors: errorsByIndex(failures) })
  })
}

/** What a failure is about, for failures that name no field themselves. */
const FIELD_OF: Record<string, string> = {
  'Slug already in use': 'slug',
  'Slug is reserved': 'slug',
  'External id already in use': 'externalId',
  'Link not found': 'id',
}

function errorsByIndex(failures: [number, Failure][]): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const [i, { message, detail }] of failures) {
    const own = detail.errors ?? { [FIELD_OF[message] ?? 'link']: message }
    for (const [field, text] of Object.entries(own)) errors[`${i}.${field}`] = text
  }
  return errors
}
