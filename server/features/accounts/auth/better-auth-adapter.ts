// Better Auth's models over our rows: its questions become Kysely's, in the one writer's transactions. Loaded with it.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { BetterAuthOptions } from 'better-auth'
import {
  type CleanedWhere,
  type CustomAdapter,
  createAdapterFactory,
  type DBAdapter,
  type DBTransactionAdapter,
} from 'better-auth/adapters'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { type Connection, type Database, toNestedDatabase } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import { hashSessionToken } from '../access/session.ts'

/** Which table and column each of its models and fields is. Ids are the tables' own. */
export const AUTH_MODELS = {
  user: {
    modelName: 'users',
    fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
  },
  session: {
    modelName: 'sessions',
    fields: {
      userId: 'user_id',
      expiresAt: 'expires_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  account: {
    modelName: 'identities',
    fields: {
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  verification: {
    modelName: 'verifications',
    fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
  },
} as const satisfies Partial<BetterAuthOptions>

type Row = Record<string, unknown>
// All four look alike to Kysely from here: an id, and columns that are named by Better Auth.
type Table = 'users'
type Where = CleanedWhere[]

/** Makes the row of a new user, and whatever must come with it or not be. */
export type UserCreator = (
  db: Database,
  values: { email: string; name: string; emailVerified: boolean },
) => Promise<number>

export const createBetterAuthAdapter =
  (db: Database, addUser: UserCreator) =>
  (options: BetterAuthOptions): DBAdapter =>
    createAdapter(db, addUser, options)

function createAdapter(db: Database, addUser: UserCreator, options: BetterAuthOptions): DBAdapter {
  const make = createAdapterFactory({
    config: {
      adapterId: 'towpath-rows',
      supportsBooleans: false,
      supportsNumericIds: true,
      customTransformInput: ({ data }) => (data instanceof Date ? data.getTime() : data),
      customTransformOutput: ({ data, fieldAttributes }) =>
        fieldAttributes.type === 'date' && typeof data === 'number' ? new Date(data) : data,
      transaction: (work) => {
        // Its state of the request is in asynchronous context, and a verb is run from the writer's own.
        const inContext = AsyncLocalStorage.snapshot()
        return db.write((connection, onCommit) => {
          const within = createAdapter(toNestedDatabase(db, connection, onCommit), addUser, options)
          return inContext(() => work(within satisfies DBTransactionAdapter))
        })
      },
    },
    adapter: ({ getFieldName }) => withHashedTokens(createTableAccess(db, addUser, getFieldName)),
  })
  return make(options)
}

type ColumnResolver = (which: { model: string; field: string }) => string

/** @throws for what Better Auth's own endpoints that we serve never ask */
function createTableAccess(db: Database, addUser: UserCreator, columnOf: ColumnResolver): CustomAdapter {
  const first = (connection: Connection, model: string, where: Where) =>
    connection
      .selectFrom(model as Table)
      .selectAll()
      .where(toCondition(where))
      .executeTakeFirst()
  const all = db.read

  return {
    async create({ model, data }) {
      if (model === 'users') {
        const { email, name, email_verified } = data as Row
        const user = { email: email as string, name: name as string, emailVerified: email_verified === 1 }
        const id = await addUser(db, user)
        return (await first(all, model, [toEquals('id', id)])) as never
      }
      return (await db.write((connection) =>
        connection
          .insertInto(model as Table)
          .values(data as never)
          .returningAll()
          .executeTakeFirstOrThrow(),
      )) as never
    },
    async findOne({ model, where }) {
      return ((await first(all, model, where)) ?? null) as never
    },
    async findMany({ model, where, limit, sortBy, offset }) {
      let asked = all
        .selectFrom(model as Table)
        .selectAll()
        .where(toCondition(where ?? []))
        .limit(limit)
      if (sortBy) asked = asked.orderBy(columnOf({ model, field: sortBy.field }) as 'id', sortBy.direction)
      return (await (offset ? asked.offset(offset) : asked).execute()) as never
    },
    async update({ model, where, update }) {
      const changed = await db.write((connection) =>
        connection
          .updateTable(model as Table)
          .set(update as never)
          .where(toCondition(where))
          .returningAll()
          .executeTakeFirst(),
      )
      return (changed ?? null) as never
    },
    async updateMany({ model, where, update }) {
      const { numUpdatedRows } = await db.write((connection) =>
        connection
          .updateTable(model as Table)
          .set(update)
          .where(toCondition(where))
          .executeTakeFirst(),
      )
      return Number(numUpdatedRows)
    },
    async delete({ model, where }) {
      await db.write((connection) =>
        connection
          .deleteFrom(model as Table)
          .where(toCondition(where))
          .execute(),
      )
    },
    async deleteMany({ model, where }) {
      const { numDeletedRows } = await db.write((connection) =>
        connection
          .deleteFrom(model as Table)
          .where(toCondition(where))
          .executeTakeFirst(),
      )
      return Number(numDeletedRows)
    },
    /** One statement: of two who come with the same token one gets it. */
    async consumeOne({ model, where }) {
      const taken = await db.write((connection) =>
        connection
          .deleteFrom(model as Table)
          .where(toCondition(where))
          .returningAll()
          .executeTakeFirst(),
      )
      return (taken ?? null) as never
    },
    async count({ model, where }) {
      const { n } = await all
        .selectFrom(model as Table)
        .select((e) => e.fn.countAll<number>().as('n'))
        .where(toCondition(where ?? []))
        .executeTakeFirstOrThrow()
      return Number(n)
    },
  }
}

/** Better Auth keeps the token of a session as it is in the cookie; who reads the database would be signed in. */
function withHashedTokens(inner: CustomAdapter): CustomAdapter {
  const tokenAsked = (where: Where) =>
    where.find(({ field, operator }) => field === 'token' && operator === 'eq')?.value as string | undefined
  const hashed = (where: Where) =>
    where.map((each) =>
      each.field === 'token' ? { ...each, value: hashSessionToken(String(each.value)) } : each,
    )
  /** The row as if it had the token by which it was asked for. */
  const shown = <T>(row: T, token: unknown) => (row && token !== undefined ? { ...row, token } : row)

  return {
    ...inner,
    async create(asked) {
      if (asked.model !== 'sessions') return inner.create(asked)
      const token = asked.data.token as string
      const row = await inner.create({ ...asked, data: { ...asked.data, token: hashSessionToken(token) } })
      return shown(row, token) as typeof row
    },
    async findOne(asked) {
      if (asked.model !== 'sessions') return inner.findOne(asked)
      const row = await inner.findOne({ ...asked, where: hashed(asked.where) })
      return shown(row, tokenAsked(asked.where)) as never
    },
    async update(asked) {
      if (asked.model !== 'sessions') return inner.update(asked)
      const row = await inner.update({ ...asked, where: hashed(asked.where) })
      return shown(row, tokenAsked(asked.where)) as never
    },
    findMany: (asked) =>
      inner.findMany(asked.model === 'sessions' ? { ...asked, where: hashed(asked.where ?? []) } : asked),
    delete: (asked) =>
      inner.delete(asked.model === 'sessions' ? { ...asked, where: hashed(asked.where) } : asked),
    deleteMany: (asked) =>
      inner.deleteMany(asked.model === 'sessions' ? { ...asked, where: hashed(asked.where) } : asked),
  }
}

const toEquals = (field: string, value: unknown) =>
  ({ field, value, operator: 'eq', connector: 'AND' }) as Where[number]

const COMPARISONS = { ne: '!=', lt: '<', lte: '<=', gt: '>', gte: '>=', in: 'in' } as const

type ConditionBuilder = ExpressionBuilder<Tables, Table>

const toCondition = (where: Where) => (e: ConditionBuilder) => {
  const each = where.map((condition) => toComparison(e, condition))
  const joined = (connector: string) => each.filter((_, i) => where[i]?.connector === connector)
  const [and, or] = [joined('AND'), joined('OR')]
  return or.length > 0 ? e.and([...and, e.or(or)]) : e.and(and)
}

function toComparison(e: ConditionBuilder, { field, value, operator }: Where[number]): Expression<SqlBool> {
  const column = field as 'id'
  if (operator === 'eq') return value === null ? e(column, 'is', null) : e(column, '=', value as never)
  if (operator === 'ne' && value === null) return e(column, 'is not', null)
  const sign = COMPARISONS[operator as keyof typeof COMPARISONS]
  if (sign === undefined) throw new Error(`the row store has no comparison "${operator}"`)
  return e(column, sign, value as never)
}
