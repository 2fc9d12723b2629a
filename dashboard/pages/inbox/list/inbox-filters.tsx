// The filters of the inbox: form, link, country, UTM source, stage, assignee and days. The menus offer the values that leads have.

import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { formNamesQuery } from '../../../api/forms.ts'
import { type InboxFilter, type LeadValue, leadValuesQuery } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatCountryName, formatDay, formatNumber } from '../../../ui/format.ts'
import { DayRangeField } from '../../../ui/forms/day-range-field.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { LEAD_STAGE_LABELS } from '../state/outcome-stages.ts'
import { useMembers } from '../state/use-members.ts'

interface Props {
  filter: InboxFilter
  onChange: (filter: InboxFilter) => void
}
type Name = 'formKey' | 'linkId' | 'country' | 'utmSource' | 'stage' | 'assignee' | 'start' | 'end'

const removeFilters = (filter: InboxFilter, ...names: Name[]): InboxFilter =>
  Object.fromEntries(Object.entries(filter).filter(([name]) => !names.includes(name as Name)))

const setFilter = (filter: InboxFilter, name: Name, value: string) =>
  value === '' ? removeFilters(filter, name) : { ...filter, [name]: value }

export function InboxFilters({ filter, onChange }: Props) {
  const api = useApi()
  const forms = useQuery(formNamesQuery(api))
  const links = useQuery(leadValuesQuery(api, 'link'))
  const countries = useQuery(leadValuesQuery(api, 'country'))
  const sources = useQuery(leadValuesQuery(api, 'utmSource'))
  const members = useMembers()
  const set = (name: Name) => (value: string) => onChange(setFilter(filter, name, value))
  return (
    <div className="mt-3 grid grid-cols-2 gap-3 sm:grid-cols-4 2xl:grid-cols-7">
      <Choice
        label="Form"
        any="Any form"
        value={filter.formKey}
        onChange={set('formKey')}
        values={forms.data?.map(({ formKey, name }) => ({ value: formKey, label: name }))}
      />
      <Choice
        label="Link"
        any="Any link"
        value={filter.linkId}
        onChange={set('linkId')}
        values={links.data}
      />
      <Choice
        label="Country"
        any="Any country"
        value={filter.country}
        onChange={set('country')}
        values={countries.data?.map((country) => ({ ...country, label: formatCountryName(country.value) }))}
      />
      <Choice
        label="UTM source"
        any="Any source"
        value={filter.utmSource}
        onChange={set('utmSource')}
        values={sources.data}
      />
      <Choice
        label="Stage"
        any="Any stage"
        value={filter.stage}
        onChange={set('stage')}
        values={Object.entries(LEAD_STAGE_LABELS).map(([value, label]) => ({ value, label }))}
      />
      <Choice
        label="Assignee"
        any="Anybody"
        value={filter.assignee}
        onChange={set('assignee')}
        values={[
          { value: 'none', label: NOBODY },
          ...members.map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
      />
      <DayRangeField
        start={filter.start}
        end={filter.end}
        onChange={({ start = '', end = '' }) =>
          onChange(setFilter(setFilter(filter, 'start', start), 'end', end))
        }
      />
    </div>
  )
}

interface ChoiceProps {
  label: string
  any: string
  value: string | undefined
  values: (Pick<LeadValue, 'value' | 'label'> & { leads?: number })[] | undefined
  onChange: (value: string) => void
}

function Choice({ label, any, value = '', values = [], onChange }: ChoiceProps) {
  const isListed = value === '' || values.some((option) => option.value === value)
  return (
    <SelectField
      label={label}
      className="grid-cols-[minmax(0,1fr)]"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{any}</option>
      {!isListed && <option value={value}>{value}</option>}
      {values.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
          {option.leads !== undefined && ` (${formatNumber(option.leads)})`}
        </option>
      ))}
    </SelectField>
  )
}

const NOBODY = 'Nobody'

const FILTER_LABELS: Record<Name, string> = {
  formKey: 'Form',
  linkId: 'Link',
  country: 'Country',
  utmSource: 'UTM source',
  stage: 'Stage',
  assignee: 'Assignee',
  start: 'From',
  end: 'To',
}
const NAMES = Object.keys(FILTER_LABELS) as Name[]

/** The active filters, each with a button that removes it. */
export function ActiveFilters({ filter, onChange }: Props) {
  const api = useApi()
  const forms = useQuery({ ...formNamesQuery(api), enabled: filter.formKey !== undefined })
  const links = useQuery({ ...leadValuesQuery(api, 'link'), enabled: filter.linkId !== undefined })
  const members = useMembers()
  const toMemberName = (value: string) =>
    value === 'none' ? NOBODY : (members.find(({ id }) => String(id) === value)?.name ?? value)
  const toValueLabel = (name: Name, value: string): string => {
    if (name === 'formKey') return forms.data?.find(({ formKey }) => formKey === value)?.name ?? value
    if (name === 'linkId') return links.data?.find((link) => link.value === value)?.label ?? value
    if (name === 'country') return formatCountryName(value)
    if (name === 'utmSource') return value
    if (name === 'stage') return LEAD_STAGE_LABELS[value as keyof typeof LEAD_STAGE_LABELS] ?? value
    if (name === 'assignee') return toMemberName(value)
    return Number.isNaN(Date.parse(value)) ? value : formatDay(`${value}T12:00:00`)
  }
  return (
    <ul className="mt-3 flex flex-wrap items-center gap-2">
      {NAMES.map((name) => {
        const value = filter[name]
        if (!value) return null
        const label = `${FILTER_LABELS[name]}: ${toValueLabel(name, value)}`
        return (
          <li key={name} className="min-w-0">
            <button
              type="button"
              aria-label={`Remove filter ${label}`}
              onClick={() => onChange(removeFilters(filter, name))}
              className="flex h-7 max-w-full items-center gap-1.5 rounded-lg bg-tint px-2 text-sm text-accent hover:bg-hover"
            >
              <span className="truncate">{label}</span>
              <X size={13} aria-hidden className="shrink-0" />
            </button>
          </li>
        )
      })}
      <li>
        <Button variant="quiet" size="small" onClick={() => onChange(removeFilters(filter, ...NAMES))}>
          Clear filters
        </Button>
      </li>
    </ul>
  )
}
