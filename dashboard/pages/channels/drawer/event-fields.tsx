// The events of a channel, and the filters that they must pass.

import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Checkbox, Input, Select } from '../../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../../ui/forms/form-error.tsx'
import type { ChannelFormValues } from './channel-values.ts'

type ChannelEvent = ChannelFormValues['events'][number]

const EVENTS: { event: ChannelEvent; label: string; about: string }[] = [
  { event: 'submission.created', label: 'Submissions', about: 'A form was sent.' },
  { event: 'outcome.recorded', label: 'Outcomes', about: 'A lead was contacted, qualified, won or lost.' },
  {
    event: 'link.created',
    label: 'New links',
    about: 'Also a link that returns from the trash. Not of imports.',
  },
  { event: 'link.updated', label: 'Changed links', about: 'A link was edited.' },
  { event: 'link.deleted', label: 'Deleted links', about: 'A link went to the trash.' },
  { event: 'link.closed', label: 'Closed links', about: 'A link expired, or its last click was used.' },
  { event: 'link.clicked', label: 'Clicks', about: 'By people. Up to 500 in a request, every five seconds.' },
  { event: 'split.decided', label: 'Decided splits', about: 'A split test has ended.' },
]

interface Props {
  values: ChannelFormValues
  errors: Record<string, string>
  onChange: (values: ChannelFormValues) => void
}

export function EventFields({ values, errors, onChange }: Props) {
  const { events } = values
  const choose = (event: ChannelEvent, on: boolean) =>
    onChange({ ...values, events: on ? [...events, event] : events.filter((each) => each !== event) })
  const error = findFieldError(errors, 'events')
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1.5 text-sm font-medium">Events</legend>
      {error && <FormError>{error}</FormError>}
      {EVENTS.map(({ event, label, about }) => (
        <EventChoice
          key={event}
          {...{ label, about }}
          checked={events.includes(event)}
          onChange={(on) => choose(event, on)}
        />
      ))}
    </fieldset>
  )
}

function EventChoice({
  label,
  about,
  checked,
  onChange,
}: {
  label: string
  about: string
  checked: boolean
  onChange: (on: boolean) => void
}) {
  const id = useId()
  return (
    <div className="flex min-w-0 items-start gap-3">
      <Checkbox id={id} checked={checked} onChange={({ target }) => onChange(target.checked)} />
      <label htmlFor={id} className="min-w-0">
        <span className="block leading-5">{label}</span>
        <span className="block text-sm text-soft">{about}</span>
      </label>
    </div>
  )
}

const FILTERS: [name: string, label: string][] = [
  ['tagId', 'Tag ID'],
  ['linkId', 'Link ID'],
  ['domain', 'Domain'],
  ['slug', 'Slug'],
  ['form', 'Form key'],
  ['country', 'Country'],
  ['device', 'Device'],
  ['source', 'Source'],
  ['channel', 'Traffic channel'],
  ['utmSource', 'UTM source'],
  ['utmMedium', 'UTM medium'],
  ['utmCampaign', 'UTM campaign'],
  ['trigger', 'Trigger'],
]

export function FilterFields({ values, errors, onChange }: Props) {
  const { filter } = values
  const change = (i: number, next: Partial<(typeof filter)[number]>) =>
    onChange({ ...values, filter: filter.map((row, at) => (at === i ? { ...row, ...next } : row)) })
  const unused = FILTERS.find(([name]) => !filter.some((row) => row.name === name))
  const error = findFieldError(errors, 'filter')
  return (
    <CollapsibleSection
      title="Only some events"
      summary={filter.length === 0 ? 'All of them' : formatCount(filter.length, 'filter')}
      hasError={error !== undefined}
    >
      {error && <FormError>{error}</FormError>}
      <p className="text-sm text-soft">
        An event must pass every filter. <code>US,BR</code> means either, <code>-US</code> all but it.
      </p>
      {filter.map((row, i) => (
        <div key={row.name} className="flex items-center gap-2">
          <Select
            aria-label="Filter"
            value={row.name}
            onChange={({ target }) => change(i, { name: target.value })}
          >
            {listNames(row.name).map(([name, label]) => (
              <option
                key={name}
                value={name}
                disabled={name !== row.name && filter.some((each) => each.name === name)}
              >
                {label}
              </option>
            ))}
          </Select>
          <Input
            aria-label="Value"
            maxLength={1000}
            value={row.value}
            onChange={({ target }) => change(i, { value: target.value })}
          />
          <IconButton
            label="Remove filter"
            onClick={() => onChange({ ...values, filter: filter.filter((_, at) => at !== i) })}
          >
            <X size={16} />
          </IconButton>
        </div>
      ))}
      {unused && (
        <div>
          <Button
            size="small"
            icon={<Plus size={14} />}
            onClick={() => onChange({ ...values, filter: [...filter, { name: unused[0], value: '' }] })}
          >
            Add a filter
          </Button>
        </div>
      )}
    </CollapsibleSection>
  )
}

/** A program may have set another one. */
const listNames = (name: string): [string, string][] =>
  FILTERS.some(([known]) => known === name) ? FILTERS : [...FILTERS, [name, name]]
