// The filters that the events of a channel must pass: by chosen tags, links, forms and other names, or by typed text.

import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Input, Select } from '../../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../../ui/forms/form-error.tsx'
import { readFilter, writeFilter } from '../../analytics/view/dimension-filter.ts'
import type { ChannelFormValues, FilterRow } from './channel-values.ts'
import { FilterValues } from './filter-values.tsx'
import { isChosenFilter } from './use-filter-options.ts'

const FILTERS: { name: string; label: string }[] = [
  { name: 'tagId', label: 'Tag' },
  { name: 'linkId', label: 'Link' },
  { name: 'form', label: 'Form' },
  { name: 'domain', label: 'Domain' },
  { name: 'slug', label: 'Slug' },
  { name: 'country', label: 'Country' },
  { name: 'device', label: 'Device' },
  { name: 'source', label: 'Source' },
  { name: 'channel', label: 'Traffic channel' },
  { name: 'utmSource', label: 'UTM source' },
  { name: 'utmMedium', label: 'UTM medium' },
  { name: 'utmCampaign', label: 'UTM campaign' },
  { name: 'trigger', label: 'Trigger' },
]

interface Props {
  values: ChannelFormValues
  errors: Record<string, string>
  onChange: (values: ChannelFormValues) => void
}

export function FilterFields({ values, errors, onChange }: Props) {
  const { filter } = values
  const setFilter = (next: FilterRow[]) => onChange({ ...values, filter: next })
  const used = filter.map(({ name }) => name)
  const unused = FILTERS.find(({ name }) => !used.includes(name))
  const error = findFieldError(errors, 'filter')
  return (
    <CollapsibleSection
      title="Only some events"
      summary={filter.length === 0 ? 'All of them' : formatCount(filter.length, 'filter')}
      hasError={error !== undefined}
    >
      {error && <FormError>{error}</FormError>}
      <p className="text-sm text-soft">An event must pass every filter.</p>
      {used.some((name) => !isChosenFilter(name)) && (
        <p className="text-sm text-soft">
          In a typed value, <code>news,blog</code> means either, <code>-news</code> all but it.
        </p>
      )}
      {filter.map((row, i) => (
        <FilterRowFields
          key={row.name}
          {...{ row, used }}
          change={(next) => setFilter(filter.with(i, next))}
          remove={() => setFilter(filter.toSpliced(i, 1))}
        />
      ))}
      {unused && (
        <div>
          <Button
            size="small"
            icon={<Plus size={14} />}
            onClick={() => setFilter([...filter, { name: unused.name, value: '' }])}
          >
            Add a filter
          </Button>
        </div>
      )}
    </CollapsibleSection>
  )
}

interface RowProps {
  row: FilterRow
  /** The names of all rows. */
  used: string[]
  change: (row: FilterRow) => void
  remove: () => void
}

function FilterRowFields({ row, used, change, remove }: RowProps) {
  const { name, value } = row
  const setValue = (next: string) => change({ name, value: next })
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-2">
        <Select
          aria-label="Filter"
          value={name}
          onChange={({ target }) => change({ name: target.value, value: '' })}
        >
          {listNames(name).map((each) => (
            <option
              key={each.name}
              value={each.name}
              disabled={each.name !== name && used.includes(each.name)}
            >
              {each.label}
            </option>
          ))}
        </Select>
        {isChosenFilter(name) ? (
          <NegateSelect {...{ value, setValue }} />
        ) : (
          <Input
            aria-label="Value"
            maxLength={1000}
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        )}
        <IconButton label="Remove filter" onClick={remove}>
          <X size={16} />
        </IconButton>
      </div>
      {isChosenFilter(name) && <FilterValues {...{ name, value, setValue }} />}
    </div>
  )
}

/** The dash of the grammar. It has no name beside it before a value is chosen. */
function NegateSelect({ value, setValue }: { value: string; setValue: (next: string) => void }) {
  const { values, negate } = readFilter(value)
  const choose = (next: boolean) => setValue(writeFilter({ values, negate: next }) ?? (next ? '-' : ''))
  return (
    <Select
      aria-label="Comparison"
      value={negate ? 'not' : 'any'}
      onChange={({ target }) => choose(target.value === 'not')}
    >
      <option value="any">is any of</option>
      <option value="not">is none of</option>
    </Select>
  )
}

/** A program may have set another one. */
const listNames = (name: string) =>
  FILTERS.some((known) => known.name === name) ? FILTERS : [...FILTERS, { name, label: name }]
