// The DML language: what a script may look like. Every decision needs one token of lookahead, but for the dangling else,
// which belongs to the nearest if.
//
// Tokens come from frontend/syntax/lexer.cc: ANTLR's lexers build their tables anew in each process, which costs more than
// all else at the start of a short script. Line breaks mean nothing, so `x = y [p,q] = f()` has to be told from
// `x = y[p,q]`: TARGET_OPEN is a '[' whose ']' is followed by an assignment sign.
grammar Dml;

tokens {
  IF, ELSE, WHILE, FOR, PARFOR, IN, FUNCTION, RETURN, EXTERNAL, IMPLEMENTED, SOURCE, AS, SETWD, IFDEF, TRUE, FALSE,
  VALUE_TYPE,  // int integer string boolean double unknown, also with a capital
  OPEN, CLOSE, OPEN_BRACKET, TARGET_OPEN, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE, COMMA, SEMICOLON, COLON,
  ASSIGN, ARROW, ADD_ASSIGN,
  POWER, MINUS, PLUS, MATRIX_PRODUCT, INTEGER_DIVIDE, MODULUS, TIMES, DIVIDE, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL,
  EQUAL, NOT_EQUAL, NOT, AND, OR,
  ID,         // also qualified, ns::name, and the few names with a dot
  PARAMETER,  // $name, $1
  INTEGER, REAL, STRING
}

@parser::members {
  int levels_left = 1 << 30;              // of nested rules; the limit is set by frontend/syntax
  antlr4::Token* too_deep_at = nullptr;  // where there were none left
  struct Nesting {
    explicit Nesting(DmlParser& p) : parser(p) {
      if (parser.levels_left <= 0) {
        parser.too_deep_at = parser.getCurrentToken();
        throw antlr4::ParseCancellationException("nesting is too deep");
      }
      --parser.levels_left;
    }
    ~Nesting() { ++parser.levels_left; }
    DmlParser& parser;
  };
}

program : statement* EOF ;
expressionOnly : expression EOF ;

statement
@init { Nesting nesting(*this); }
  : simple SEMICOLON*
  | ifStatement
  | whileStatement
  | forStatement
  ;

simple
  : name=ID ( call=arguments | index=targetIndex? assignment )
  | TARGET_OPEN target (COMMA target)* CLOSE_BRACKET sign=(ASSIGN | ARROW) function=ID call=arguments
  | SOURCE OPEN path CLOSE AS alias=ID
  | SETWD OPEN path CLOSE
  ;

target : name=ID index=targetIndex? ;
targetIndex : TARGET_OPEN subscripts CLOSE_BRACKET ;
path : literal=STRING | parameter=PARAMETER ;

assignment
  : sign=(ASSIGN | ARROW) ( value=expression | ifdef | definition )
  | sign=ADD_ASSIGN value=expression
  ;

ifdef : IFDEF OPEN parameter=PARAMETER COMMA fallback=expression CLOSE ;

definition
  : FUNCTION OPEN parameters? CLOSE (RETURN OPEN outputs=parameters? CLOSE)? OPEN_BRACE statement* CLOSE_BRACE
  | EXTERNAL OPEN parameters? CLOSE (RETURN OPEN outputs=parameters? CLOSE)? IMPLEMENTED IN implementation=arguments
  ;

parameters : declaration (COMMA declaration)* ;
declaration : type name=ID (ASSIGN fallback=expression)? ;
type : word=(ID | VALUE_TYPE) ( (OPEN_BRACKET | TARGET_OPEN) element=(ID | VALUE_TYPE) CLOSE_BRACKET )? ;

ifStatement : IF OPEN predicate=expression CLOSE ( then=statement otherwise? | block ( otherwise | SEMICOLON* ) ) ;
otherwise : ELSE body ;
whileStatement : WHILE OPEN predicate=expression CLOSE body ;
forStatement
  : word=(FOR | PARFOR) OPEN variable=ID IN low=expression (COLON high=expression)? (COMMA argument)* CLOSE body
  ;
body : statement | block SEMICOLON* ;
block : OPEN_BRACE statement* CLOSE_BRACE ;

arguments : OPEN (argument (COMMA argument)*)? CLOSE ;
argument : value=expression (ASSIGN named=expression)? ;  // name = value: only a bare name may stand before the sign

subscripts : rows=range? (comma=COMMA cols=range?)? ;
range : low=expression (COLON high=expression)? ;

// Operators stay a flat list here, which needs no lookahead at all; frontend/syntax nests them by its table of precedence.
expression
@init { Nesting nesting(*this); }
  : items+=operand (ops+=(POWER | MATRIX_PRODUCT | INTEGER_DIVIDE | MODULUS | TIMES | DIVIDE | PLUS | MINUS | LESS
      | LESS_EQUAL | GREATER | GREATER_EQUAL | EQUAL | NOT_EQUAL | AND | OR) items+=operand)*
  ;

operand
  : signs+=(MINUS | PLUS | NOT)*
    ( open=OPEN inner=expression CLOSE
    | name=ID ( call=arguments | OPEN_BRACKET index=subscripts CLOSE_BRACKET )?
    | literal=(INTEGER | REAL | STRING | TRUE | FALSE)
    | parameter=PARAMETER
    | open=OPEN_BRACKET list+=expression (COMMA list+=expression)* CLOSE_BRACKET
    )
  ;
