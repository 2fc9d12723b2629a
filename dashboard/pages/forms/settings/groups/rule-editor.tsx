// The rules for the value of one field: its type, its length, a pattern, and the choices that it may be.

import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX, Trash2 } from 'lucide-react'
import { useId, useState } from 'react'
import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { Button } from '../../../../ui/button.tsx'
import { CollapsibleSection } from '../../../../ui/collapsible-section.tsx'
import { formatCount, formatNumber } from '../../../../ui/format.ts'
import { CODE_INPUT } from '../../../../ui/forms/control-class.ts'
import { Checkbox, Field, formatExample, Input, Select, TextField } from '../../../../ui/forms/field.tsx'
import { FormError } from '../../../../ui/forms/form-error.tsx'
import { findItemError } from '../controls/item-error.ts'
import { ListField } from '../controls/list-field.tsx'
import { NumberField } from '../controls/number-field.tsx'

type Rule = FormResource['rules'][string]

const TYPE_LABELS: Record<NonNullable<Rule['type']>, string> = {
  email: 'Email address',
  url: 'Web address',
  tel: 'Phone number',
  number: 'Number',
  date: 'Date',
}

/** `Email address · at most 50 characters · pattern` */
function describeRule({ type, minLength, maxLength, pattern, oneOf }: Rule): string {
  const characters = (n: number) => formatCount(n, 'character')
  const lengths = [
    minLength !== undefined &&
      `at least ${maxLength === undefined ? characters(minLength) : formatNumber(minLength)}`,
    maxLength !== undefined && `at most ${characters(maxLength)}`,
  ].filter(Boolean)
  return (
    [
      type && TYPE_LABELS[type],
      lengths.length > 0 && lengths.join(', '),
      pattern && 'pattern',
      oneOf && formatCount(oneOf.length, 'choice'),
    ]
      .filter(Boolean)
      .join(' · ') || 'No rules yet'
  )
}

interface RuleEditorProps {
  name: string
  rule: Rule
  errors: Record<string, string>
  startsOpen: boolean
  onChange: (rule: Rule) => void
  remove: () => void
}

export function RuleEditor({ name, rule, errors, startsOpen, onChange, remove }: RuleEditorProps) {
  const path = `rules.${name}`
  const error = (setting: keyof Rule) => errors[`${path}.${setting}`]
  const set = (part: Partial<Rule>) => onChange({ ...rule, ...part })
  return (
    <CollapsibleSection
      title={<code className="break-all whitespace-normal">{name}</code>}
      summary={describeRule(rule)}
      startsOpen={startsOpen}
      hasError={Object.keys(errors).some((each) => each === path || each.startsWith(`${path}.`))}
    >
      {errors[path] && <FormError>{errors[path]}</FormError>}
      <TypeField rule={rule} error={error('type')} autoFocus={startsOpen} set={set} />
      {rule.type === 'email' && (
        <Field label="Several addresses, separated by commas">
          {(control) => (
            <Checkbox
              {...control}
              checked={rule.multiple === true}
              onChange={(event) => set({ multiple: event.target.checked || undefined })}
            />
          )}
        </Field>
      )}
      <div className="grid grid-cols-2 gap-4 sm:max-w-md">
        <NumberField
          label="Min characters"
          value={rule.minLength ?? null}
          onChange={(minLength) => set({ minLength: minLength ?? undefined })}
          error={error('minLength')}
        />
        <NumberField
          label="Max characters"
          value={rule.maxLength ?? null}
          onChange={(maxLength) => set({ maxLength: maxLength ?? undefined })}
          error={error('maxLength')}
        />
      </div>
      <TextField
        label="Pattern"
        className="[&_input]:font-mono"
        placeholder={formatExample('[A-Z]{2}\\d{4}')}
        hint="A regular expression in the syntax of RE2. The whole value must match it."
        maxLength={500}
        {...CODE_INPUT}
        value={rule.pattern ?? ''}
        onChange={(event) => set({ pattern: event.target.value || undefined })}
        error={error('pattern')}
      />
      {rule.pattern && <PatternTrial pattern={rule.pattern} />}
      <ListField
        label="Choices"
        hint="The only values that are accepted, as in a select or in radio buttons. Press Enter after each one. Leave empty to accept all."
        keepsCommas
        value={rule.oneOf ?? []}
        onChange={(choices) => set({ oneOf: choices.length > 0 ? choices : undefined })}
        error={findItemError(errors, `${path}.oneOf`, rule.oneOf ?? [])}
      />
      <div>
        <Button variant="quiet" size="small" icon={<Trash2 size={15} />} onClick={remove}>
          Remove the rules for {name}
        </Button>
      </div>
    </CollapsibleSection>
  )
}

/** A box to try a pattern with the server's engine, which is loaded at the first input. */
function PatternTrial({ pattern }: { pattern: string }) {
  const [value, setValue] = useState('')
  const id = useId()
  const engine = useQuery({
    queryKey: ['regular expressions'],
    queryFn: async () => (await import('re2js')).RE2JS,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: value !== '',
  })
  const result = value !== '' && engine.data ? tryPattern(engine.data, pattern, value) : undefined
  const Icon = result?.matches ? CircleCheck : CircleX
  return (
    <Field label="Try the pattern" hint="A value to check. It isn’t stored.">
      {(control) => (
        <span className="grid gap-1.5">
          <Input
            {...control}
            value={value}
            autoComplete="off"
            aria-details={id}
            onChange={(event) => setValue(event.target.value)}
          />
          <span id={id} role="status" className="text-sm">
            {result && (
              <span className={`flex items-center gap-1.5 ${result.matches ? 'text-accent' : 'text-danger'}`}>
                <Icon size={16} aria-hidden className="shrink-0" />
                <span className="min-w-0 break-words">{result.sentence}</span>
              </span>
            )}
          </span>
        </span>
      )}
    </Field>
  )
}

type Engine = typeof import('re2js').RE2JS

function tryPattern(engine: Engine, pattern: string, value: string) {
  try {
    const matches = engine.compile(pattern).matches(value)
    return { matches, sentence: matches ? 'The value is accepted.' : 'The value is rejected.' }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { matches: false, sentence: `The pattern can’t be used: ${reason}` }
  }
}

interface TypeFieldProps {
  rule: Rule
  error: string | undefined
  autoFocus: boolean
  set: (part: Partial<Rule>) => void
}

const TypeField = ({ rule, error, autoFocus, set }: TypeFieldProps) => (
  <Field label="Type" error={error}>
    {(control) => (
      <Select
        {...control}
        autoFocus={autoFocus}
        className="max-w-64"
        value={rule.type ?? ''}
        onChange={(event) =>
          set({ type: (event.target.value || undefined) as Rule['type'], multiple: undefined })
        }
        options={Object.entries(TYPE_LABELS)}
      >
        <option value="">Any text</option>
      </Select>
    )}
  </Field>
)
