// Queries whose text is made once. For an insert of thirty columns Kysely takes 18 µs to make it, and SQLite 6 to run it.

import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './engine.ts'

type Values = Record<string, unknown>

/** Stands in for a value while the text is made. */
class Slot {
  constructor(readonly name: string) {}
}

/**
 * @param build makes the query of values that it must pass on as they are: it is called once for each engine, with
 * something else in their places. The same names must have values in every call.
 */
export function prepared<V extends Values, Row>(
  build: (db: Db, values: V) => Compilable<Row>,
): (db: Db, values: V) => Promise<Row[]> {
  const known = new WeakMap<object, CompiledQuery<Row>>()

  function compile(db: Db, values: V): CompiledQuery<Row> {
    const slots = Object.fromEntries(Object.keys(values).map((name) => [name, new Slot(name)]))
    return build(db, slots as V).compile() as CompiledQuery<Row>
  }

  return async (db, values) => {
    // One for each pool of PostgreSQL, and one for SQLite.
    const { adapter } = db.getExecutor()
    let query = known.get(adapter)
    if (!query) {
      query = compile(db, values)
      known.set(adapter, query)
    }
    const parameters = query.parameters.map((value) =>
      value instanceof Slot ? valueFor(values, value) : value,
    )
    return (await db.executeQuery<Row>({ ...query, parameters })).rows
  }
}

function valueFor(values: Values, { name }: Slot): unknown {
  const value = values[name]
  if (value === undefined) throw new Error(`A prepared query has no value for ${name}`)
  return value
}
