// Findings of the server are English. The bundle of another language has a translator here (bundle-texts.ts).

export const translateFinding = (text: string) => text
