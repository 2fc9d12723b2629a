// Formats whether a measurement meets its target.

export const formatVerdict = (isMet: boolean) => (isMet ? 'met' : '**missed**')
