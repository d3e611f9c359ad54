// The time that numbers are of: which one an address says, how it is chosen, and what the API knows of it.

export { isOfHere, queryOf, readAnswer } from './answer.js';
export { ABOUT_HUMAN_CLICKS, AudienceChoice, audienceOf } from './audience.js';
export { useLatest } from './latest.js';
export { linesOf, mergedLines } from './lines.js';
export { summedUp } from './groups.js';
export { datesOf, dayOf, daysBetween, daysOf, intervalOf, nameOfLine, periodOf, unitOf, utcDayOf } from './period.js';
export { DaysChoice, RangeChoice, UnitChoice } from './range.js';
