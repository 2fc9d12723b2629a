// The values of a filter as a list to choose from, by their names.

import { useId, useState } from 'react'
import { Checkbox } from '../../../ui/forms/field.tsx'
import { SearchField } from '../../../ui/forms/search-field.tsx'
import { useDebounced } from '../../../ui/forms/use-debounced.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { readFilter, toggleValue, writeFilter } from '../../analytics/view/dimension-filter.ts'
import { type ChosenFilter, useFilterOptions, useOptionNames } from './use-filter-options.ts'

const LISTS: Record<ChosenFilter, { label: string; placeholder?: string }> = {
  tagId: { label: 'Tags', placeholder: 'Search tags' },
  linkId: { label: 'Links', placeholder: 'Search links' },
  form: { label: 'Forms', placeholder: 'Search forms' },
  country: { label: 'Countries', placeholder: 'Search countries' },
  domain: { label: 'Domains' },
  channel: { label: 'Traffic channels' },
  trigger: { label: 'Triggers' },
}
const TYPING_PAUSE_MS = 200

interface Props {
  name: ChosenFilter
  /** In the grammar of the API. */
  value: string
  setValue: (next: string) => void
}

export function FilterValues({ name, value, setValue }: Props) {
  const filter = readFilter(value)
  const { values, negate } = filter
  const [text, setText] = useState('')
  const { options, isPending } = useFilterOptions(name, useDebounced(text.trim(), TYPING_PAUSE_MS))
  const toName = useOptionNames(name, values)
  // A chosen value stays visible when the search hides it in the list.
  const others = values.filter((each) => !options.some((option) => option.value === each))
  const listed = [...others.map((each) => ({ value: each, label: toName(each) })), ...options]
  const { label, placeholder } = LISTS[name]
  const toggle = (each: string) =>
    setValue(writeFilter(toggleValue(filter, each, negate)) ?? (negate ? '-' : ''))
  return (
    <div className="grid gap-2">
      {placeholder && (
        <SearchField
          label={placeholder}
          placeholder={placeholder}
          value={text}
          onChange={({ target }) => setText(target.value)}
          // Enter would save the channel.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      )}
      <fieldset className="grid max-h-48 gap-2 overflow-y-auto rounded-lg border border-line p-3">
        <legend className="sr-only">{label}</legend>
        {listed.map((option) => (
          <ValueOption
            key={option.value}
            label={option.label}
            checked={values.includes(option.value)}
            onChange={() => toggle(option.value)}
          />
        ))}
        {isPending && <Skeleton className="h-5" />}
        {!isPending && listed.length === 0 && <p className="text-sm text-soft">No matches</p>}
      </fieldset>
    </div>
  )
}

function ValueOption({
  label,
  checked,
  onChange,
}: {
  label: string
  checked: boolean
  onChange: () => void
}) {
  const id = useId()
  return (
    <div className="flex min-w-0 items-center gap-3">
      <Checkbox id={id} checked={checked} onChange={onChange} />
      <label htmlFor={id} className="truncate">
        {label}
      </label>
    </div>
  )
}
