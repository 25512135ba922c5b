// Training pace: how a loop's turns are shared between learning and drawing. Pure arithmetic: times in,
// decisions out.
//
// Every turn is given time for steps: little while the view moves, so that moving stays fluid, more at rest,
// never so much that a key would wait. A step cannot be cut short, so what it takes too long is subtracted
// from the turns after it. A picture of what was learned is due a few times per second, or as seldom as it
// takes for drawing to leave most of the time to learning.
#pragma once

#include <stdbool.h>

typedef struct training_pace {
    double credit;   // time left for steps; negative: overdrawn [ms]
    double drawn_at; // when the last picture was begun [s]
    double cost;     // of that picture [ms]
} training_pace;

void training_pace_turn(training_pace *pace, bool moving); // a turn of the loop begins
bool training_pace_allows_step(const training_pace *pace);
void training_pace_step(training_pace *pace, double milliseconds); // a step took so long
// A picture was drawn, in parts between turns: when it was begun [s], and what all parts took.
void training_pace_drawn(training_pace *pace, double begun_at, double milliseconds);
bool training_pace_picture_due(const training_pace *pace, double now);
