// Maps the columns of a plain CSV file to the fields of a link. The names of the columns suggest the first choice.

import type { FileInspection, MappedField } from '../../../api/transfer/imports.ts'
import { Card } from '../../../ui/card.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { toCellText } from './recognized-file.tsx'

/** The fields that a column can have, in the words of the screens. The first ones are always shown. */
const FIELDS = {
  destinationUrl: 'Destination URL',
  shortUrl: 'Short link',
  slug: 'Slug',
  title: 'Title',
  tags: 'Tags',
  createdAt: 'Created',
  clicks: 'Total clicks',
  domain: 'Domain',
  comments: 'Comments',
  archived: 'Archived',
  startsAt: 'Starts',
  expiresAt: 'Expires',
  expiredUrl: 'Expiration URL',
  clickLimit: 'Click limit',
  password: 'Password',
  iosUrl: 'Destination on iPhone and iPad',
  androidUrl: 'Destination on Android',
  desktopUrl: 'Destination on computers',
  externalId: 'ID in the other tool',
} satisfies Record<MappedField, string>

const ALWAYS_SHOWN: MappedField[] = [
  'destinationUrl',
  'shortUrl',
  'slug',
  'title',
  'tags',
  'createdAt',
  'clicks',
]

interface Props {
  inspection: FileInspection
  mapping: Record<string, string>
  errors: Record<string, string>
  change: (mapping: Record<string, string>) => void
}

export function ColumnMapping({ inspection, mapping, errors, change }: Props) {
  const { columns } = inspection
  const names = Object.keys(FIELDS) as MappedField[]
  const isFirst = (name: MappedField) => ALWAYS_SHOWN.includes(name) || inspection.mapping[name] !== undefined
  const more = names.filter((name) => !isFirst(name))
  const toField = (name: MappedField) => {
    const column = mapping[name] ?? inspection.mapping[name] ?? ''
    const sample = columns.find((each) => each.name === column)?.samples[0]
    return (
      <SelectField
        key={name}
        label={FIELDS[name]}
        className="min-w-0 grid-cols-1"
        error={errors[`mapping.${name}`]}
        hint={sample !== undefined && <span className="block truncate">{toCellText(sample) || 'Empty'}</span>}
        value={column}
        onChange={({ target }) => change({ ...mapping, [name]: target.value })}
        options={columns.map((each) => [each.name, each.name])}
      >
        <option value="">Not in the file</option>
      </SelectField>
    )
  }
  return (
    <Card title="Columns">
      <p className="mb-4 text-soft">
        Match the columns to fields. Only the destination URL is required. The short link can be a whole
        address, or only the slug.
      </p>
      {errors.mapping && (
        <p role="alert" className="mb-3 text-sm text-danger">
          {errors.mapping}
        </p>
      )}
      <div className="grid grid-cols-1 items-start gap-x-5 gap-y-4 sm:grid-cols-2">
        {names.filter(isFirst).map(toField)}
      </div>
      <details className="mt-4 border-t border-line pt-3" open={more.some((n) => errors[`mapping.${n}`])}>
        <summary className="w-fit rounded text-sm font-medium">{more.length} more fields</summary>
        <div className="mt-3 grid grid-cols-1 items-start gap-x-5 gap-y-4 sm:grid-cols-2">
          {more.map(toField)}
        </div>
      </details>
    </Card>
  )
}
