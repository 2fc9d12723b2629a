// Stores Better Auth's models in our tables: turns its queries into Kysely queries, in transactions of the one writer.

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
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'

/** The table of each model, and the column of each field. The database makes the ids. */
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
// Better Auth names tables and columns at run time. This type is used for all four tables.
type Table = 'users'
type Where = CleanedWhere[]

/**
 * Creates a user with all rows that belong to one, in one transaction. @returns the id, or throws when sign-up is
 * refused
 */
export type UserCreator = (
  db: Database,
  values: { email: string; name: string; emailVerified: boolean },
) => Promise<number>

export const createBetterAuthAdapter =
  (db: Database, addUser: UserCreator) =>
  (options: BetterAuthOptions): DBAdapter =>
    createAdapter(db, addUser, options)

function createAdapter(db: Database, addUser: UserCreator, options: BetterAuthOptions): DBAdapter {
  const createFromOptions = createAdapterFactory({
    config: {
      adapterId: 'towpath-rows',
      supportsBooleans: false,
      supportsNumericIds: true,
      customTransformInput: ({ data }) => (data instanceof Date ? data.getTime() : data),
      customTransformOutput: ({ data, fieldAttributes }) =>
        fieldAttributes.type === 'date' && typeof data === 'number' ? new Date(data) : data,
      transaction: (work) => {
        // Better Auth keeps the request in an AsyncLocalStorage. The writer calls the verb from another context.
        const runInContext = AsyncLocalStorage.snapshot()
        return db.write((connection, onCommit) => {
          const nested = createAdapter(toNestedDatabase(db, connection, onCommit), addUser, options)
          return runInContext(() => work(nested satisfies DBTransactionAdapter))
        })
      },
    },
    adapter: ({ getFieldName }) => withHashedTokens(createTableAccess(db, addUser, getFieldName)),
  })
  return createFromOptions(options)
}

type ColumnResolver = (which: { model: string; field: string }) => string

function createTableAccess(db: Database, addUser: UserCreator, getColumn: ColumnResolver): CustomAdapter {
  return { ...createTableReads(db, getColumn), ...createTableWrites(db, addUser) }
}

const selectFirst = (connection: Connection, model: string, where: Where) =>
  connection
    .selectFrom(model as Table)
    .selectAll()
    .where(toCondition(where))
    .executeTakeFirst()

type TableReads = Pick<CustomAdapter, 'findOne' | 'findMany' | 'count'>

function createTableReads({ read }: Database, getColumn: ColumnResolver): TableReads {
  return {
    async findOne({ model, where }) {
      return ((await selectFirst(read, model, where)) ?? null) as never
    },
    async findMany({ model, where, limit, sortBy, offset }) {
      let query = read
        .selectFrom(model as Table)
        .selectAll()
        .where(toCondition(where ?? []))
        .limit(limit)
      if (sortBy) query = query.orderBy(getColumn({ model, field: sortBy.field }) as 'id', sortBy.direction)
      return (await (offset ? query.offset(offset) : query).execute()) as never
    },
    async count({ model, where }) {
      const { n } = await read
        .selectFrom(model as Table)
        .select((e) => e.fn.countAll<number>().as('n'))
        .where(toCondition(where ?? []))
        .executeTakeFirstOrThrow()
      return Number(n)
    },
  }
}

function createTableWrites(db: Database, addUser: UserCreator): Omit<CustomAdapter, keyof TableReads> {
  return {
    async create({ model, data }) {
      if (model === 'users') {
        const { email, name, email_verified } = data as Row
        const user = { email: email as string, name: name as string, emailVerified: email_verified === 1 }
        const id = await addUser(db, user)
        return (await selectFirst(db.read, model, [toEquals('id', id)])) as never
      }
      return (await db.write((connection) =>
        connection
          .insertInto(model as Table)
          .values(data as never)
          .returningAll()
          .executeTakeFirstOrThrow(),
      )) as never
    },
    async update({ model, where, update }) {
      const row = await db.write((connection) =>
        connection
          .updateTable(model as Table)
          .set(update as never)
          .where(toCondition(where))
          .returningAll()
          .executeTakeFirst(),
      )
      return (row ?? null) as never
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
      await deleteRows(db, model, where)
    },
    deleteMany: ({ model, where }) => deleteRows(db, model, where),
    /** Uses one statement: of two requests with the same token, only one gets the row. */
    async consumeOne({ model, where }) {
      const row = await db.write((connection) =>
        connection
          .deleteFrom(model as Table)
          .where(toCondition(where))
          .returningAll()
          .executeTakeFirst(),
      )
      return (row ?? null) as never
    },
  }
}

async function deleteRows(db: Database, model: string, where: Where): Promise<number> {
  const { numDeletedRows } = await db.write((connection) =>
    connection
      .deleteFrom(model as Table)
      .where(toCondition(where))
      .executeTakeFirst(),
  )
  return Number(numDeletedRows)
}

/** Better Auth stores session tokens in clear. This stores their hash, so that the database lets nobody sign in. */
function withHashedTokens(inner: CustomAdapter): CustomAdapter {
  return {
    ...inner,
    async create(query) {
      if (query.model !== 'sessions') return inner.create(query)
      const token = query.data.token as string
      const row = await inner.create({ ...query, data: { ...query.data, token: sha256Hex(token) } })
      return restoreToken(row, token) as typeof row
    },
    async findOne(query) {
      if (query.model !== 'sessions') return inner.findOne(query)
      const row = await inner.findOne({ ...query, where: hashTokens(query.where) })
      return restoreToken(row, findToken(query.where)) as never
    },
    async update(query) {
      if (query.model !== 'sessions') return inner.update(query)
      const row = await inner.update({ ...query, where: hashTokens(query.where) })
      return restoreToken(row, findToken(query.where)) as never
    },
    findMany: (query) =>
      inner.findMany(query.model === 'sessions' ? { ...query, where: hashTokens(query.where ?? []) } : query),
    delete: (query) =>
      inner.delete(query.model === 'sessions' ? { ...query, where: hashTokens(query.where) } : query),
    deleteMany: (query) =>
      inner.deleteMany(query.model === 'sessions' ? { ...query, where: hashTokens(query.where) } : query),
  }
}

const findToken = (where: Where) =>
  where.find(({ field, operator }) => field === 'token' && operator === 'eq')?.value as string | undefined

const hashTokens = (where: Where) =>
  where.map((condition) =>
    condition.field === 'token' ? { ...condition, value: sha256Hex(String(condition.value)) } : condition,
  )

/** The row with the token of the query in place of its hash, as Better Auth expects it. */
const restoreToken = <T>(row: T, token: unknown) => (row && token !== undefined ? { ...row, token } : row)

const toEquals = (field: string, value: unknown) =>
  ({ field, value, operator: 'eq', connector: 'AND' }) as Where[number]

const COMPARISONS = { ne: '!=', lt: '<', lte: '<=', gt: '>', gte: '>=', in: 'in' } as const

type ConditionBuilder = ExpressionBuilder<Tables, Table>

const toCondition = (where: Where) => (e: ConditionBuilder) => {
  const comparisons = where.map((condition) => toComparison(e, condition))
  const selectBy = (connector: string) => comparisons.filter((_, i) => where[i]?.connector === connector)
  const [and, or] = [selectBy('AND'), selectBy('OR')]
  return or.length > 0 ? e.and([...and, e.or(or)]) : e.and(and)
}

/** @throws for an operator that Better Auth's endpoints in use never ask for */
function toComparison(e: ConditionBuilder, { field, value, operator }: Where[number]): Expression<SqlBool> {
  const column = field as 'id'
  if (operator === 'eq') return value === null ? e(column, 'is', null) : e(column, '=', value as never)
  if (operator === 'ne' && value === null) return e(column, 'is not', null)
  const sign = COMPARISONS[operator as keyof typeof COMPARISONS]
  if (sign === undefined) throw new Error(`the row store has no comparison "${operator}"`)
  return e(column, sign, value as never)
}
