// Times of the API: ISO 8601 in UTC.

export const toIso = (ms: number) => new Date(ms).toISOString()
export const toIsoOrNull = (ms: number | null) => (ms === null ? null : toIso(ms))
