// Hash of a submission's editable fields. Submissions have no time of their last change, so an import compares this.

export const hashEditableFields = ({ status, notes }: { status: string; notes: string | null }): number =>
  Bun.hash.crc32(JSON.stringify([status, notes]))
