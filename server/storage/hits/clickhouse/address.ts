// The address of a ClickHouse server, as the operator writes it: http://user:password@host:8123/database.

export interface ClickHouseAddress {
  /** Without user, password and database. */
  origin: string
  database: string
  user: string
  /** User, password and database, as headers of ClickHouse's HTTP interface. */
  headers: Record<string, string>
}

/** @param text a valid address: config/cluster-settings.ts has checked it */
export function parseClickHouseAddress(text: string): ClickHouseAddress {
  const url = new URL(text)
  const user = decodeURIComponent(url.username) || 'default'
  const database = decodeURIComponent(url.pathname.slice(1)) || 'default'
  return {
    origin: url.origin,
    database,
    user,
    headers: {
      'X-ClickHouse-User': user,
      'X-ClickHouse-Key': decodeURIComponent(url.password),
      'X-ClickHouse-Database': database,
    },
  }
}
