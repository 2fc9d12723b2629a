// Makes one change to many links. Each link keeps its own rules: an unchangeable link stays as it is with a reason in
// the answer, and the others change. The answer also has the values that undo the change.

import { invalid } from '../../../lib/failure.ts'
import { parseUrl, URL_MAX } from '../../../lib/web-url.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { type BulkFailure, runEach, toDistinct } from '../bulk.ts'
import { toErrorField } from '../conflict.ts'
import type { LinkNeeds, LinkTransaction } from '../create.ts'
import { getLinkForUpdate } from '../get.ts'
import { toLinkResource } from '../link.ts'
import { resolveDomain } from '../names/link-domain.ts'
import { toLinkColumns, UTM } from '../rules.ts'
import type { LinkResource, UpdateLinkInput } from '../schema.ts'
import { updateLinkIn } from '../update.ts'
import { toEtag } from '../version.ts'
import type { EditedLinksResource, LinkChangesInput, LinkUndoInput, LinkUndoResource } from './schema.ts'

interface Edit {
  before: LinkResource
  after: LinkResource
}

/** @throws Failure `invalid` for changes that no link can have */
export async function editLinks(needs: LinkNeeds, actor: Actor, ids: number[], changes: LinkChangesInput) {
  allow(actor, 'links:write')
  const { destinationUrl, expiredUrl, domain } = changes
  toLinkColumns(needs.site, { destinationUrl, expiredUrl }, undefined)
  if (domain !== undefined)
    await resolveDomain({ connection: needs.db.read, site: needs.site }, actor, domain)
  return editEach(needs, actor, toDistinct(ids), {
    getId: (id) => id,
    fields: listFields(changes),
    edit: async (transaction, id) => {
      const before = await readLink(transaction, actor, id)
      const input = dropEqual(toUpdateInput(before, changes), before)
      const after =
        Object.keys(input).length === 0
          ? before
          : await updateLinkIn(transaction, actor, id, input, { passwordHash: undefined })
      return { before, after }
    },
  })
}

/** Takes an edit back where nobody has changed the link since. */
export async function undoEdit(needs: LinkNeeds, actor: Actor, links: LinkUndoInput[]) {
  allow(actor, 'links:write')
  return editEach(needs, actor, [...links.entries()], {
    getId: ({ id }) => id,
    fields: ['undo'],
    edit: async (transaction, { id, updatedAt, ...input }) => {
      const before = await readLink(transaction, actor, id)
      const options = { passwordHash: undefined, ifMatch: toEtag(updatedAt), isUndo: true }
      return { before, after: await updateLinkIn(transaction, actor, id, input, options) }
    },
  })
}

interface EditOf<Item> {
  getId: (item: Item) => number
  /** For the audit log. */
  fields: string[]
  edit: (transaction: LinkTransaction, item: Item) => Promise<Edit>
}

async function editEach<Item>(
  needs: LinkNeeds,
  actor: Actor,
  items: [index: number, item: Item][],
  { getId, fields, edit }: EditOf<Item>,
): Promise<EditedLinksResource> {
  return needs.db.write(async (connection, onCommit) => {
    const nested = toNestedDatabase(needs.db, connection, onCommit)
    const { results, failures } = await runEach(nested, items, (db, item) =>
      db.write((inner, onInnerCommit) =>
        edit({ ...needs, connection: inner, onCommit: onInnerCommit }, item),
      ),
    )
    const undo = results.map(toUndo)
    const isChanged = (index: number) => Object.keys(undo[index] ?? {}).length > UNDO_NAMES
    const changed = results.flatMap(({ after }, index) => (isChanged(index) ? [after] : []))
    if (changed.length > 0) {
      const detail = { count: changed.length, ids: changed.map(({ id }) => String(id)), fields }
      await recordAudit(connection, actor, { action: 'link.bulk_edited', detail }, needs.now())
    }
    return {
      changed,
      unchanged: results.flatMap(({ after }, index) => (isChanged(index) ? [] : [after.id])),
      failed: failures.map(({ item, failure }) => ({ id: getId(item), errors: toErrors(failure) })),
      undo: undo.filter((_, index) => isChanged(index)),
    }
  })
}

const listFields = (changes: LinkChangesInput) =>
  Object.entries(changes)
    .flatMap(([name, value]) => (value === undefined ? [] : [name]))
    .sort()

const readLink = async ({ db, connection, site }: LinkTransaction, actor: Actor, id: number) =>
  toLinkResource(connection, site, await getLinkForUpdate(db, connection, actor, id))

/** @throws Failure `invalid` for a destination that gets too long */
function toUpdateInput(
  { destinationUrl, tags }: LinkResource,
  { replace, addTagIds = [], removeTagIds = [], ...input }: LinkChangesInput,
): UpdateLinkInput {
  const hasTags = addTagIds.length + removeTagIds.length > 0
  const kept = tags.map(({ id }) => id).filter((id) => !removeTagIds.includes(id))
  return {
    ...input,
    ...(replace && { destinationUrl: replaceText(destinationUrl, replace) }),
    ...(hasTags && { tagIds: [...new Set([...kept, ...addTagIds])] }),
  }
}

function replaceText(text: string, { find, with: next }: { find: string; with: string }): string {
  const parts = text.split(find)
  const length = text.length + (parts.length - 1) * (next.length - find.length)
  if (length > URL_MAX) throw invalid({ destinationUrl: `must be at most ${URL_MAX} characters` })
  return parts.join(next)
}

/** Without the fields that the link has already: it keeps its version then. */
function dropEqual(input: UpdateLinkInput, before: LinkResource): UpdateLinkInput {
  const now: Record<string, unknown> = { ...before, tagIds: before.tags.map(({ id }) => id) }
  const toComparable = (value: unknown, name: string) =>
    name === 'expiresAt' && typeof value === 'string'
      ? Date.parse(value)
      : Array.isArray(value)
        ? [...value].sort().join()
        : value
  const changes = Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) => value !== undefined && toComparable(value, name) !== toComparable(now[name], name),
    ),
  )
  return 'destinationUrl' in changes || !hasUtm(before, changes) ? changes : withoutUtm(changes)
}

const isUtm = (name: string): name is keyof typeof UTM => name in UTM
const withoutUtm = (changes: UpdateLinkInput): UpdateLinkInput =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => !isUtm(name)))

/** Whether the destination has these UTM values already. */
function hasUtm({ destinationUrl }: LinkResource, changes: UpdateLinkInput): boolean {
  const query = parseUrl(destinationUrl)?.searchParams
  return Object.entries(changes).every(
    ([name, value]) => !isUtm(name) || (query?.get(UTM[name]) ?? null) === value,
  )
}

/** `id` and `updatedAt` */
const UNDO_NAMES = 2

function toUndo({ before, after }: Edit): LinkUndoResource {
  const [had, has] = [toTagIds(before), toTagIds(after)]
  return {
    id: before.id,
    updatedAt: after.updatedAt,
    ...(before.destinationUrl !== after.destinationUrl && { destinationUrl: before.destinationUrl }),
    ...(before.expiresAt !== after.expiresAt && { expiresAt: before.expiresAt }),
    ...(before.expiredUrl !== after.expiredUrl && { expiredUrl: before.expiredUrl }),
    ...(before.domain !== after.domain && { domain: before.domain }),
    ...(before.archived !== after.archived && { archived: before.archived }),
    ...(had.join() !== has.join() && { tagIds: had }),
  }
}

const toTagIds = ({ tags }: LinkResource) => tags.map(({ id }) => id).sort((a, b) => a - b)

const toErrors = (failure: BulkFailure<unknown>['failure']): Record<string, string> =>
  failure.detail.errors ?? { [toErrorField(failure)]: failure.message }
