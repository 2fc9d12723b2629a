// Prepared queries: Kysely builds their text once. For an insert of 30 columns the text takes 18 µs, and SQLite takes 6
// µs.

import type { Compilable, CompiledQuery } from 'kysely'
import type { Connection } from './database.ts'

type QueryValues = Record<string, unknown>

/** Stands for a value while Kysely builds the text. */
class Placeholder {
  constructor(readonly name: string) {}
}

/**
 * @param build builds the query once for each engine, from placeholders. It must pass the values on without reading
 * them. Every call must give values for the same names.
 */
export function prepareQuery<V extends QueryValues, Row>(
  build: (connection: Connection, values: V) => Compilable<Row>,
): (connection: Connection, values: V) => Promise<Row[]> {
  const queries = new WeakMap<object, CompiledQuery<Row>>()

  function compile(connection: Connection, values: V): CompiledQuery<Row> {
    const placeholders = Object.fromEntries(Object.keys(values).map((name) => [name, new Placeholder(name)]))
    return build(connection, placeholders as V).compile() as CompiledQuery<Row>
  }

  return async (connection, values) => {
    // Each pool of PostgreSQL has its adapter, and SQLite has one.
    const { adapter } = connection.getExecutor()
    let query = queries.get(adapter)
    if (!query) {
      query = compile(connection, values)
      queries.set(adapter, query)
    }
    const parameters = query.parameters.map((value) =>
      value instanceof Placeholder ? getValue(values, value) : value,
    )
    return (await connection.executeQuery<Row>({ ...query, parameters })).rows
  }
}

function getValue(values: QueryValues, { name }: Placeholder): unknown {
  const value = values[name]
  if (value === undefined) throw new Error(`A prepared query has no value for ${name}`)
  return value
}
