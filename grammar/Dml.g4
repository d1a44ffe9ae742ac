grammar Dml;
program : ID* EOF ;
ID : [A-Za-z]+ ;
WS : [ \t\r\n]+ -> skip ;
