// Creates one link of an import, in the transaction of its batch. A link with a taken slug is skipped, or gets the next free
// slug.

import { Failure } from '../../../lib/failure.ts'
import { foldCase } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { createLinkIn, type LinkTransaction } from '../../links/create.ts'
import type { CreateLinkInput, LinkResource } from '../../links/schema.ts'
import { isReserved, listSimilarSlugs, normalizeSlug, toSlugKey } from '../../links/slug.ts'
import type { SourceLink } from '../sources/source.ts'
import type { ChosenDomain } from './choose-domain.ts'
import type { DryRunNameKind, DryRunNames } from './dry-run-names.ts'
import type { ImportRun } from './import-run.ts'
import { type RowProblem, toLinkInput, toRowProblem } from './to-link-input.ts'

export interface LinkToStore {
  link: SourceLink
  /** Null for a random slug. */
  slug: string | null
  domain: ChosenDomain
  passwordHash: string | null | undefined
}

export interface StoredLink {
  outcome: 'created' | 'renamed'
  resource: LinkResource
  /** Names that later rows of a dry run must find taken. */
  names: [DryRunNameKind, string][]
  notes: string[]
  /** New tags of the link. */
  newTags: { id: number; name: string }[]
}

export type LinkOutcome =
  | StoredLink
  | { outcome: 'failed'; problem: RowProblem }
  | {
      outcome: 'skipped'
      name: string
      problem: RowProblem
      /** True if a link of this workspace has the same slug and destination. */
      isSame: boolean
      /** The id of that link; null if it exists in a dry run only. */
      linkId: number | null
    }

export interface StoringNeeds {
  run: ImportRun
  /** Nested in the transaction of the batch. */
  db: Database
  transaction: LinkTransaction
  taken: DryRunNames
}

/** The message for a slug that differs from another one only in case. Notices count the rows with it. */
export const CASE_CONFLICT = 'differs only in the case of its letters from another slug'

export async function storeLink(needs: StoringNeeds, wanted: LinkToStore): Promise<LinkOutcome> {
  const reading = toLinkInput(wanted.link, wanted.slug, wanted.domain.typed)
  if ('problem' in reading) return { outcome: 'failed', problem: reading.problem }
  const { input, notes } = reading
  try {
    const created = await tryToCreate(needs, wanted, input)
    if (created) return { ...created, outcome: 'created', notes }
    // Only a slug from the file can be taken, not a random one.
    const slug = input.slug as string
    const conflict = await describeConflict(needs, wanted, slug)
    if (needs.run.row.on_conflict !== 'rename' || conflict.isSame) return { ...conflict, outcome: 'skipped' }
    const renamed = await createRenamed(needs, wanted, { ...input, slug })
    return { ...renamed, outcome: 'renamed', notes: [conflict.problem.message, ...notes] }
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error
    return { outcome: 'failed', problem: toFailureProblem(error, wanted, input) }
  }
}

type Created = Omit<StoredLink, 'outcome' | 'notes'>

/** @returns undefined if the slug is taken or reserved */
async function tryToCreate(
  { run, db, taken }: StoringNeeds,
  { link, domain, passwordHash }: LinkToStore,
  input: CreateLinkInput,
): Promise<Created | undefined> {
  if (input.slug !== undefined && taken.has('slug', toSlugName(domain, input.slug))) return undefined
  const { needs, actor } = run
  const now = needs.now()
  const createdAt = Math.min(link.createdAt ?? now, now)
  try {
    return await db.write(async (connection, onCommit) => {
      const known = await listTagKeys(connection, run, input.tagNames ?? [])
      const transaction = { ...needs, db, connection, onCommit }
      const resource = await createLinkIn(transaction, actor, input, passwordHash, createdAt)
      const newTags = resource.tags.filter(({ name }) => !known.has(foldCase(name)))
      return { resource, names: listNames(domain, resource), newTags }
    })
  } catch (error) {
    if (isSlugConflict(error)) return undefined
    throw error
  }
}

const isSlugConflict = (error: unknown) =>
  error instanceof Failure &&
  error.code === 'conflict' &&
  (error.message === 'Slug already in use' || error.message === 'Slug is reserved')

const toSlugName = ({ name, caseSensitive }: ChosenDomain, slug: string) =>
  `${name}/${toSlugKey(slug, caseSensitive)}`

const toExactName = ({ name }: ChosenDomain, slug: string) => `${name}/${slug}`
const toSameName = (domain: ChosenDomain, slug: string, url: string) => `${toExactName(domain, slug)} ${url}`

const listNames = (
  domain: ChosenDomain,
  { slug, destinationUrl }: LinkResource,
): [DryRunNameKind, string][] => [
  ['slug', toSlugName(domain, slug)],
  ['exact', toExactName(domain, slug)],
  ['same', toSameName(domain, slug, destinationUrl)],
]

async function listTagKeys(connection: Connection, { actor }: ImportRun, names: string[]) {
  if (names.length === 0) return new Set<string>()
  const rows = await connection
    .selectFrom('tags')
    .select('name_key')
    .where('workspace_id', '=', actor.workspaceId)
    .where('name_key', 'in', names.map(foldCase))
    .execute()
  return new Set(rows.map(({ name_key }) => name_key))
}

async function createRenamed(
  needs: StoringNeeds,
  wanted: LinkToStore,
  input: CreateLinkInput & { slug: string },
): Promise<Created> {
  for (const slug of listSimilarSlugs(input.slug)) {
    const created = await tryToCreate(needs, wanted, { ...input, slug })
    if (created) return created
  }
  throw new Failure('conflict', 'Slug already in use')
}

type Conflict = Omit<Extract<LinkOutcome, { outcome: 'skipped' }>, 'outcome'>

/** Describes the owner of the slug. It reveals nothing about other workspaces. */
async function describeConflict(needs: StoringNeeds, wanted: LinkToStore, typed: string): Promise<Conflict> {
  const { run, transaction, taken } = needs
  const { domain } = wanted
  const { site } = run.needs
  const slug = normalizeSlug(typed)
  const name = `${domain.name === '' ? site.domain : domain.name}/${slug}`
  const toConflict = (message: string, isSame = false, linkId: number | null = null): Conflict => ({
    name,
    problem: { field: 'slug', value: slug, message },
    isSame,
    linkId,
  })
  if (isReserved(site, domain.name, slug)) return toConflict('The slug is reserved on this domain.')
  const owner = await findOwner(transaction.connection, run, domain, slug)
  const url = parseUrl(wanted.link.destinationUrl)?.href ?? ''
  if (!owner) {
    if (!taken.has('slug', toSlugName(domain, slug))) return toConflict('The slug is taken.')
    if (!taken.has('exact', toExactName(domain, slug))) return toConflict(`The slug ${CASE_CONFLICT}.`)
    if (taken.has('same', toSameName(domain, slug, url))) return toConflict(SAME_LINK, true)
    return toConflict('Another row of the file has this slug.')
  }
  if (owner.slug !== slug) return toConflict(`The slug ${CASE_CONFLICT}: "${owner.slug}".`)
  if (owner.deleted_at !== null) return toConflict('A link in the trash has this slug.')
  if (owner.destination_url === url) return toConflict(SAME_LINK, true, owner.id)
  return toConflict(`A link to ${owner.destination_url.slice(0, 200)} has this slug.`)
}

const SAME_LINK = 'The link is here already.'

const findOwner = (connection: Connection, { actor }: ImportRun, domain: ChosenDomain, slug: string) =>
  connection
    .selectFrom('links')
    .select(['id', 'slug', 'destination_url', 'deleted_at'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('domain', '=', domain.name)
    .where('slug_key', '=', toSlugKey(slug, domain.caseSensitive))
    .where('purged_at', 'is', null)
    .executeTakeFirst()

function toFailureProblem(failure: Failure, { link, slug }: LinkToStore, input: object): RowProblem {
  const [error] = Object.entries(failure.detail.errors ?? {})
  if (!error) return { field: null, value: null, message: failure.message }
  return toRowProblem(error[0], error[1], { ...link, ...input, slug })
}

/** The batch's transaction as a database whose writes are savepoints. */
export const toStoringDatabase = ({ db, connection, onCommit }: LinkTransaction) =>
  toNestedDatabase(db, connection, onCommit)
