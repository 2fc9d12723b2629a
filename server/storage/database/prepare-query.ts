// Queries whose text is made once. For an insert of thirty columns Kysely takes 18 µs to make it, and SQLite 6 to run it.

import type { Compilable, CompiledQuery } from 'kysely'
import type { Connection } from './database.ts'

type QueryValues = Record<string, unknown>

/** Stands in for a value while the text is made. */
class Placeholder {
  constructor(readonly name: string) {}
}

/**
 * @param build makes the query of values that it must pass on as they are: it is called once for each engine, with
 * something else in their places. The same names must have values in every call.
 */
export function prepareQuery<V extends QueryValues, Row>(
  build: (connection: Connection, values: V) => Compilable<Row>,
): (connection: Connection, values: V) => Promise<Row[]> {
  const known = new WeakMap<object, CompiledQuery<Row>>()

  function compile(connection: Connection, values: V): CompiledQuery<Row> {
    const slots = Object.fromEntries(Object.keys(values).map((name) => [name, new Placeholder(name)]))
    return build(connection, slots as V).compile() as CompiledQuery<Row>
  }

  return async (connection, values) => {
    // One for each pool of PostgreSQL, and one for SQLite.
    const { adapter } = connection.getExecutor()
    let query = known.get(adapter)
    if (!query) {
      query = compile(connection, values)
      known.set(adapter, query)
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
