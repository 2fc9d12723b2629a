// The events of a channel.

import { useId } from 'react'
import { Checkbox } from '../../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../../ui/forms/form-error.tsx'
import type { ChannelFormValues } from './channel-values.ts'

type ChannelEvent = ChannelFormValues['events'][number]

const EVENTS: { event: ChannelEvent; label: string; about: string }[] = [
  { event: 'submission.created', label: 'Submissions', about: 'A form was sent.' },
  { event: 'outcome.recorded', label: 'Outcomes', about: 'A lead was contacted, qualified, won or lost.' },
  {
    event: 'link.created',
    label: 'New links',
    about: 'Also when a link returns from the trash. Not for imported links.',
  },
  { event: 'link.updated', label: 'Changed links', about: 'A link was edited.' },
  { event: 'link.deleted', label: 'Deleted links', about: 'A link went to the trash.' },
  {
    event: 'link.closed',
    label: 'Closed links',
    about: 'A link expired, or its last click or lead was used.',
  },
  {
    event: 'link.clicked',
    label: 'Clicks',
    about: 'Clicks of people, up to 500 in one request every five seconds.',
  },
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
