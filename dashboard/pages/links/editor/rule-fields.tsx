// The ordered redirect rules of a link. The first one that matches a visitor decides.

import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { useId } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { formatCount } from '../../../ui/format.ts'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { DateTimeField } from '../../../ui/forms/date-time-field.tsx'
import { Checkbox, formatExample, TextField } from '../../../ui/forms/field.tsx'
import { findFieldError } from '../../../ui/forms/form-error.tsx'
import { t } from '../../../ui/text.ts'
import { RULE_DEVICE_NAMES, RULE_SYSTEM_NAMES } from '../link/describe-rule.ts'
import type { LinkFieldsProps } from './field-props.ts'
import { createRuleDraft, type RuleDevice, type RuleDraft, type RuleSystem, toRule } from './rule-draft.ts'

const RULES_MAX = 20

export function RuleFields({ draft: { rules }, link, errors, onChange }: LinkFieldsProps) {
  const change = (key: number, part: Partial<RuleDraft>) =>
    onChange({ rules: rules.map((rule) => (rule.key === key ? { ...rule, ...part } : rule)) })
  const move = (index: number, by: -1 | 1) =>
    onChange({ rules: rules.toSpliced(index, 1).toSpliced(index + by, 0, rules[index] as RuleDraft) })
  return (
    <CollapsibleSection
      title="Rules"
      summary={rules.length > 0 && formatCount(rules.length, 'rule')}
      hasError={Boolean(findFieldError(errors, 'rules'))}
    >
      <p className="text-sm text-soft">
        The first rule that matches a visitor decides, before the targets for devices and countries. A rule
        without conditions matches everyone.
      </p>
      {rules.map((rule, index) => (
        <RuleCard
          key={rule.key}
          rule={rule}
          index={index}
          isLast={index === rules.length - 1}
          errors={errors}
          warning={link && findSavedWarning(link, rule, index)}
          onChange={(part) => change(rule.key, part)}
          onMove={(by) => move(index, by)}
          onRemove={() => onChange({ rules: rules.filter(({ key }) => key !== rule.key) })}
        />
      ))}
      {errors.rules && <p className="text-sm text-danger">{errors.rules}</p>}
      {rules.length < RULES_MAX && (
        <Button
          size="small"
          icon={<Plus size={14} />}
          className="justify-self-start"
          onClick={() => onChange({ rules: [...rules, createRuleDraft()] })}
        >
          Add rule
        </Button>
      )}
    </CollapsibleSection>
  )
}

/** The server warns of rules that are saved. */
const findSavedWarning = ({ rules, ruleWarnings }: LinkResource, rule: RuleDraft, index: number) =>
  JSON.stringify(rules[index]) === JSON.stringify(toRule(rule))
    ? ruleWarnings.find((warning) => warning.rule === index)?.message
    : undefined

interface RuleCardProps {
  rule: RuleDraft
  index: number
  isLast: boolean
  errors: Record<string, string>
  warning: string | undefined
  onChange: (part: Partial<RuleDraft>) => void
  onMove: (by: -1 | 1) => void
  onRemove: () => void
}

function RuleCard({ rule, index, isLast, errors, warning, onChange, onMove, onRemove }: RuleCardProps) {
  const warningId = useId()
  const name = `Rule ${index + 1}`
  return (
    <fieldset
      aria-label={name}
      aria-describedby={warning && warningId}
      className="grid min-w-0 gap-3 rounded-xl border border-line p-3"
    >
      <div className="flex items-center gap-1">
        <span className="mr-auto text-sm font-medium" aria-hidden>
          {name}
        </span>
        <IconButton label={`Move ${name} up`} disabled={index === 0} onClick={() => onMove(-1)}>
          <ArrowUp size={16} />
        </IconButton>
        <IconButton label={`Move ${name} down`} disabled={isLast} onClick={() => onMove(1)}>
          <ArrowDown size={16} />
        </IconButton>
        <IconButton label={`Remove ${name}`} onClick={onRemove}>
          <X size={16} />
        </IconButton>
      </div>
      {warning && (
        <p id={warningId} className="text-sm text-warn">
          {warning}
        </p>
      )}
      <TextField
        {...CODE_INPUT}
        label="Destination"
        inputMode="url"
        placeholder={formatExample('https://example.com/de')}
        value={rule.to}
        error={errors[`rules.${index}.to`]}
        onChange={({ target }) => onChange({ to: target.value })}
      />
      <RuleConditions
        rule={rule}
        findError={(field) => findFieldError(errors, `rules.${index}.when.${field}`)}
        onChange={onChange}
      />
    </fieldset>
  )
}

const PLACES = [
  { field: 'country', label: 'Countries', placeholder: formatExample(t('DE, AT')) },
  { field: 'language', label: 'Languages', placeholder: formatExample(t('de, fr')) },
] as const

const TIMES = [
  { field: 'after', label: 'From', placeholder: 'Any time' },
  { field: 'before', label: 'Until', placeholder: 'Any time' },
] as const

interface RuleConditionsProps extends Pick<RuleCardProps, 'rule' | 'onChange'> {
  findError: (field: string) => string | undefined
}

function RuleConditions({ rule, findError, onChange }: RuleConditionsProps) {
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        {PLACES.map(({ field, ...props }) => (
          <TextField
            {...CODE_INPUT}
            {...props}
            key={field}
            value={rule[field]}
            error={findError(field)}
            onChange={({ target }) => onChange({ [field]: target.value })}
          />
        ))}
      </div>
      <Choices
        legend="Devices"
        names={RULE_DEVICE_NAMES}
        chosen={rule.device}
        onChange={(device: RuleDevice[]) => onChange({ device })}
      />
      <Choices
        legend="Systems"
        names={RULE_SYSTEM_NAMES}
        chosen={rule.os}
        onChange={(os: RuleSystem[]) => onChange({ os })}
      />
      <TextField
        {...CODE_INPUT}
        label="Query parameters"
        hint="All of them must be on the short link. * is any value."
        placeholder={formatExample('ref=partner')}
        value={rule.query}
        error={findError('query')}
        onChange={({ target }) => onChange({ query: target.value })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        {TIMES.map(({ field, ...props }) => (
          <DateTimeField
            {...props}
            key={field}
            value={rule[field]}
            error={findError(field)}
            onChange={(time) => onChange({ [field]: time })}
          />
        ))}
      </div>
    </>
  )
}

interface ChoicesProps<T extends string> {
  legend: string
  names: Record<T, string>
  chosen: T[]
  onChange: (chosen: T[]) => void
}

function Choices<T extends string>({ legend, names, chosen, onChange }: ChoicesProps<T>) {
  const id = useId()
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{legend}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-2">
        {(Object.entries(names) as [T, string][]).map(([value, name]) => (
          <label key={value} htmlFor={`${id}-${value}`} className="flex items-center gap-2 text-sm">
            <Checkbox
              id={`${id}-${value}`}
              checked={chosen.includes(value)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
              }
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
