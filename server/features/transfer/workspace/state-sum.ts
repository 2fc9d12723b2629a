// What people change on a submission, as one number: a submission has no time of its last change.

export const toStateSum = ({ status, notes }: { status: string; notes: string | null }): number =>
  Bun.hash.crc32(JSON.stringify([status, notes]))
